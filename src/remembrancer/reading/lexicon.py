"""English word lists of the rule reader: function words, interjections, kin, empty praise."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIRST_PERSON = _words("i we")
BARE_PRONOUNS = _words(
    "he she they it this that these those there here everything everyone everybody something "
    "someone somebody anything anyone nobody nothing none who which one both all some most many "
    "others another each such what whatever"
)
POSSESSIVES = _words("my our")
OTHER_DETERMINERS = _words("the a an this that these those his her their its every each some both")
PRONOUNS = _words("i we he she they you it")

BE = _words("am is are was were be been being isn't aren't wasn't weren't ain't 'm 're")
HAVE = _words("have has had having haven't hasn't hadn't 've")
DO = _words("do does did don't doesn't didn't")
MODALS = _words(
    "will would can could should shall might may must won't wouldn't can't couldn't shouldn't "
    "mightn't mustn't cannot 'll wont cant gonna"
)
AMBIGUOUS_AUX = _words("'s 'd")  # is or has; had or would
AUXILIARIES = BE | HAVE | DO | MODALS | AMBIGUOUS_AUX
STRONG_VERBS = (BE | HAVE | DO | MODALS) - {"be", "been", "being", "having"}
NEGATORS = _words("not never hardly neither nor cannot wont cant")
INVERTING = (BE | HAVE | DO | MODALS) - {"be", "been", "being", "having", "'m", "'re", "'ve", "'ll"}

ADVERBS = _words(
    """really also just always usually often sometimes finally recently already still even only
    actually probably definitely certainly currently now then once ever truly totally absolutely
    completely honestly basically literally seriously initially originally mostly mainly generally
    normally typically rarely seldom occasionally frequently constantly quickly slowly suddenly
    eventually immediately later soon lately previously almost nearly kinda sorta kind sort of so
    both all too quite simply especially particularly deeply strongly highly fully officially
    accidentally secretly personally obviously clearly naturally fortunately unfortunately luckily
    hopefully sadly apparently easily gladly regularly daily successfully together myself
    first second last not never hardly no longer"""
) - {"second", "last", "no"}

CONJUNCTIONS = _words("and but so yet or plus while whereas though although")
SUBORDINATORS = _words(
    "when while because although though since as after before once until whenever unless if "
    "whether given where wherever"
)
PREPOSITIONS = _words(
    "in on at by for from with during over under about around through without within between "
    "near to of into onto upon across along behind beyond despite except inside outside toward "
    "towards per via like"
)
# words that may open a clause before its subject: "Last week I …", "In 2020 my …"
LEADS = (
    PREPOSITIONS
    | (SUBORDINATORS - {"where", "wherever", "whether"})
    | _words(
        """yesterday today tonight tomorrow last next this every each one two three some back
        recently lately currently now then once sometimes usually often originally initially
        later soon afterwards afterward meanwhile nowadays occasionally eventually finally earlier
        monday tuesday wednesday thursday friday saturday sunday january february march april may
        june july august september october november december january the a lately first growing
        ever most these those all weekends mornings christmas thanksgiving easter summers"""
    )
)

WH_WORDS = _words("what where who whom whose why how which what's where's who's how's why's when's")
INTERJECTIONS = _words(
    """yes yeah yep yup ya no nope nah ok okay oh ooh ah aha aw aww awww hey hi hello hiya howdy wow
    whoa woah haha hahaha hehe lol omg well so and but also plus anyway anyways actually honestly
    btw sure right great nice cool awesome amazing thanks thank thx cheers congrats congratulations
    bye goodbye goodnight hmm hm mm um uh er sorry please absolutely definitely totally exactly
    certainly alright like man dude bro girl guys gosh god geez jeez yay yikes ugh phew oops hooray
    welcome good perfect wonderful fantastic lovely sweet sounds indeed true agreed gotcha fine
    anyhow basically seriously luckily fortunately unfortunately sadly hopefully personally
    frankly obviously apparently speaking lastly finally first firstly second secondly third
    then because or yet plus still though"""
)
EMPTY = _words(
    """love like hate enjoy think guess know see mean hope agree understand believe feel sound
    sounds look looks seem seems great good nice cool awesome amazing wonderful fantastic lovely
    sweet perfect super fun funny happy glad sad sorry excited exciting thrilled proud sure fine
    okay ok exactly tons loads plenty motivated motivation pushing push forward goal goals mind
    minds happiness fulfillment fulfilled experience experiences memory memories comfort welcoming
    atmosphere vibe vibes energy positive positivity hooked chance moment moments journey success
    dream dreams strength growth courage awe needs needed continue continued inspired inspires
    uplifting down sooner back possible future stay stays chatted passion joy hopes
    reach spirit spirits blast treat struggle struggling challenging worthwhile
    bad terrible awful interesting inspiring incredible beautiful gorgeous cute adorable stunning
    special powerful right true wrong crazy wild important tough hard easy idea thing things stuff
    way lot lots bit much many more most really very so too quite pretty totally definitely
    absolutely always never just also even still well better best worse worst thanks thank
    appreciate glad grateful thankful care wait bet imagine wow day time keep going doing made
    make makes got get gets getting want need feeling felt said say tell told remember
    people someone something anything everything nothing everyone one here there now then today
    yes no yeah not n't kind sort such what how why when where who point sense worth impressive
    awesome hear heard hearing thought thinking loved liked know knew knowing saw seen seeing
    try trying help helps helped helpful support supportive chat talk talking soon later again
    together forward looking matter matters ready lucky blessed honored touched moved happen
    happens work works worked guys buddy friend pal luck share sharing shared question questions
    done do does did have has had having go goes went come came can could will would should may
    might must shall let lets check meaningful rewarding great-sounding rest words word
    nervous stressed overwhelmed worried anxious relieved surprised amazed impressed thrilling
    refreshing relaxing peaceful calm calming fulfilling satisfying encouraging motivating
    touching heartwarming breathtaking delicious yummy tasty brilliant excellent magical
    memorable unforgettable priceless precious truly deeply world difference"""
)
STOP = _words(
    """i me my mine myself we us our ours you your yours he him his she her hers they them their
    theirs it its this that these those the a an and or but so if of to in on at by for from with
    about as into than then there here be am is are was were been being 'm 're 's 've 'll 'd have
    has had do does did will would can could should might may must not no yes all any some each
    every both few other own same too very just also up down out off over again because while
    since until after before when where what who how why which gonna wanna i'm i've i'll i'd it's
    that's you're we're they're there's don't doesn't didn't isn't aren't wasn't weren't can't
    couldn't won't wouldn't haven't hasn't hadn't shouldn't through during around"""
)

KIN = _words(
    """mom mum mother dad father parent parents sister sisters brother brothers sibling siblings son
    sons daughter daughters kid kids child children baby husband wife spouse partner boyfriend
    girlfriend fiance fiancé fiancee fiancée ex grandma grandmother grandpa grandfather grandparents
    granny nana aunt uncle cousin cousins niece nephew family in-laws mother-in-law father-in-law
    sister-in-law brother-in-law stepmom stepdad stepson stepdaughter twin friend friends bestie
    buddy roommate roommates flatmate neighbor neighbour neighbors coworker coworkers co-worker
    colleague colleagues boss manager supervisor teammate teammates team mentor teacher professor
    coach tutor student students doctor dentist therapist trainer landlord client clients assistant
    employee employees cofounder co-founder intern dog dogs puppy pup cat cats kitten pet pets
    hamster parrot horse rabbit bird fish godfather godmother godson"""
)
IMPERSONAL_STARTS = _words("thanks thank please let lets let's make don't never remember check try")
NUMBER_WORDS = _words(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "eighteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen"
)
CALENDAR = _words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december mon tue tues wed thu thur thurs fri sat sun
    jan feb mar apr jun jul aug sep sept oct nov dec mondays tuesdays wednesdays thursdays fridays
    saturdays sundays"""
)
FUTURE = _words("tomorrow tonight soon later next upcoming")
# first words of sentences, and shouted ones, that are no names
COMMON = (
    FIRST_PERSON
    | BARE_PRONOUNS
    | POSSESSIVES
    | OTHER_DETERMINERS
    | BE
    | HAVE
    | DO
    | MODALS
    | ADVERBS
    | CONJUNCTIONS
    | SUBORDINATORS
    | PREPOSITIONS
    | LEADS
    | WH_WORDS
    | INTERJECTIONS
    | EMPTY
    | STOP
    | NUMBER_WORDS
    | CALENDAR
    | IMPERSONAL_STARTS
    | _words(
        """good new old big small more less few several many any other same different dear real
        total full free hello morning afternoon evening night happy merry enjoy step note tip
        example section part overview summary yourself ourselves let's i'd i'm we've we're you've
        you'll they've he's she's it's that's there's who's here's let's can't won't looking
        working trying going getting using having making taking being seeing hoping planning
        thinking given based according instead however therefore additionally furthermore moreover
        overall similarly alternatively besides yo consider ensure include create define
        implement remember review add update set run open click select choose follow start stop
        begin end keep avoid
        user users assistant system tool today's yesterday's tomorrow's"""
    )
)
NOT_NAMES = _words(
    """ok tv am pm lol omg btw fyi imo imho tbh asap faq diy phd ba ma bsc msc md mr mrs ms dr rsvp
    ps aka etc eta rip vip ceo cto cfo hr pr id url usd eur gbp kg km cm mm lb lbs mph gb mb tb mom
    dad mum mama papa grandma grandpa aunt uncle god gosh jeez internet bye yay haha ugh todo nb
    wtf idk nvm smh ily wow yes no not all so very really never always love hate best super huge
    must need want please help stop now more everything anything too ii iii iv"""
)
TITLES = _words("dr mr mrs ms prof sir saint st mount mt professor doctor captain president")
NAME_JOINERS = _words("of the de del la van von der den da di bin ibn al y du des le")
