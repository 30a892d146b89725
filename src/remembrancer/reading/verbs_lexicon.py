"""English verb forms that the rule reader knows: enough to tell a verb from a name or noun."""

from __future__ import annotations

_REGULAR = """accept access achieve act adapt add adjust admire admit adopt advise afford agree aim
allow analyze announce answer apologize appear apply appoint appreciate approach approve argue
arrange arrive ask assign assist assume assure attach attack attend attract avoid bake ban base
battle beg behave believe belong benefit blame blog boil book borrow bother bounce box breathe brew
brush calculate call camp cancel capture care carry cause celebrate challenge change charge chase
chat check cheer chill choose claim clean clear climb close coach code collaborate collect combine
commit commute compare compete complain complete compose concern confirm connect consider consist
consult consume contact contain continue contribute control convert convince cook coordinate cope
copy correct count cover crash crave create cross cry cure cycle dance date deal debate debug
decide declare decorate dedicate delay delegate deliver demand deny depend deploy describe deserve
design desire develop die diet differ discover discuss dislike donate doubt download draft drag
dream dress drop earn edit educate embrace employ enable encourage end engage enjoy enroll ensure
enter escape establish estimate evaluate evolve examine exchange excite exercise exist expand
expect experience experiment explain explore express extend face fail fancy farm fear feature film
finish fish fit fix focus fold follow force form foster frame garden gather generate goof graduate
greet grill guess guide handle happen harvest hate head heal help hike hire hope host hunt hurry
identify ignore imagine implement import impress improve include increase influence inform
inherit inspire install integrate intend interview introduce invent invest invite involve iron jog
join joke jump kick kill kiss knit knock label lack land last laugh launch learn lend like limit
link list listen live load lock log look love lower maintain major manage mark marry master match
matter measure meditate mention mentor merge mess migrate mind miss mix monitor motivate move name
need note notice nurse obsess obtain occur offer open operate opt order organize own pack paint
park participate pass paste perform persuade phone photograph pick plan plant play please point
post pour practice praise pray prefer prepare present press pretend prevent print process produce
program progress promise promote propose protect prove provide publish pull purchase push qualify
question race rain raise ramble reach react realize receive recommend record recover recycle reduce
refactor refer refuse register regret relate relax release rely remain remember remind remove renew
rent repair repeat replace reply report represent request require rescue research reserve resign
resolve respect respond rest restart result retire return review rush sail save scare schedule
score scream search seem serve settle share shift ship shop sign skate sketch ski skip smile smoke
solve sort sound specialize sponsor spot stare start stay stir stop store stream stress stretch
struggle study submit succeed suck suffer suggest suit support suppose surf surprise survive
switch talk target taste teach tend test text thank tidy tour train transfer transform translate
travel treat try turn type unpack update upgrade upload use vacation value visit voice volunteer
vote wait walk want warn wash waste watch wear weigh welcome whisper wish wonder work worry wrap
yell found configure allocate compile utilize optimize prioritize summarize categorize notify verify
validate initialize automate pursue specify suspect outline reschedule renovate
destroy expire injure postpone evacuate adore emigrate immigrate diagnose prescribe sprain evict
ruin demolish shave bike row lift knead rehearse audition relocate browse crochet sew divorce
separate dump""".split()

# base past participle(s)
_IRREGULAR = """become became become;begin began begun;bite bit bitten;blow blew blown;break broke
broken;bring brought brought;build built built;buy bought bought;catch caught caught;choose chose
chosen;come came come;cost cost cost;cut cut cut;deal dealt dealt;draw drew drawn;drink drank drunk;
drive drove driven;eat ate eaten;fall fell fallen;feed fed fed;feel felt felt;fight fought fought;
find found found;fly flew flown;forget forgot forgotten;forgive forgave forgiven;freeze froze
frozen;get got gotten;give gave given;go went gone;grow grew grown;hang hung hung;hear heard heard;
hide hid hidden;hit hit hit;hold held held;hurt hurt hurt;keep kept kept;know knew known;lay laid
laid;lead led led;leave left left;lend lent lent;let let let;lose lost lost;make made made;mean
meant meant;meet met met;pay paid paid;put put put;quit quit quit;read read read;ride rode ridden;
ring rang rung;rise rose risen;run ran run;say said said;see saw seen;sell sold sold;send sent sent;
set set set;shake shook shaken;shoot shot shot;show showed shown;shut shut shut;sing sang sung;
sit sat sat;sleep slept slept;speak spoke spoken;spend spent spent;split split split;spread spread
spread;stand stood stood;steal stole stolen;stick stuck stuck;strike struck struck;swear swore
sworn;swim swam swum;take took taken;teach taught taught;tell told told;think thought thought;
throw threw thrown;understand understood understood;wake woke woken;wear wore worn;win won won;
withdraw withdrew withdrawn;write wrote written""".replace("\n", " ").split(";")

_VOWELS = "aeiou"
_DOUBLED = frozenset(
    """admit ban beg chat commit drag drop fit grab jog knit log mix nod occur opt pat plan prefer
    refer regret rub scan ship shop skip slip spot step stir stop submit tip trip wrap transfer
    begin cut forget get hit let put quit run set shut sit split swim win""".split()
)


def _ing(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return base + "ing"


def _ed(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return base + "ed"


def _s(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


_TRIPLES = [entry.split() for entry in _IRREGULAR]
_IRREGULAR_BASES = frozenset(triple[0] for triple in _TRIPLES)
_REGULAR_ONLY = [base for base in _REGULAR if base not in _IRREGULAR_BASES]

BASES = frozenset(_REGULAR) | _IRREGULAR_BASES
S_FORMS = frozenset(_s(base) for base in BASES)
ING_FORMS = frozenset(_ing(base) for base in BASES)
PAST_FORMS = frozenset(_ed(base) for base in _REGULAR_ONLY) | {t[1] for t in _TRIPLES}
PARTICIPLES = frozenset(_ed(base) for base in _REGULAR_ONLY) | {t[2] for t in _TRIPLES} | {"got"}
FINITE = S_FORMS | PAST_FORMS
VERB_FORMS = FINITE | BASES
