"""The words by which people ask, order, promise and commit: patterns on a lower-case clause.

Each is matched at the start of a clause. What stands after the match is what is to be done.
"""

from __future__ import annotations

import re
from typing import Final

from ..verbs_lexicon import BASES

LEAD: Final = re.compile(
    r"(?:(?:hey|hi|hello|yo|dude|bro|ok|okay|oh|ah|so|also|and|but|then|btw|by the way|sure"
    r"|sure thing|alright"
    r"|thanks|thank you|yes|yeah|yep|no problem|no worries|of course|certainly|absolutely|got it"
    r"|actually|one more thing|quick one|quick note|fyi|ps|p\.s|will do|understood|anyway|oh and"
    r"|hmm|ugh|damn|please|unfortunately|honestly|just a heads-up|assistant"
    r"|(?:no|well|right|great|good|done|noted|perfect|today)(?=[,.!:;—–-]))"
    r"\b(?:[\s,!.:;—–-]+|$))+"
)
_POLITE: Final = (
    r"(?:please |kindly |pls |just |then |also |always |maybe |perhaps |"
    r"(?:(?:can|could|would|will|won't|can't) (?:you|u|we)(?: please| kindly| also| just| maybe)?"
    r"(?: be so kind as to| be sure to| make sure to| remember to| try to)?) |"
    r"(?:i'd|i would|i) (?:really )?(?:like|love|want|need|appreciate it if) you "
    r"(?:to |could |would )(?:please )?|"
    r"(?:i'd|i would) (?:really )?(?:appreciate it|be (?:very |so )?(?:grateful|happy|glad)"
    r"|love it)"
    r" if you (?:could |would |can )?(?:please )?|"
    r"(?:it'd|it would|that'd|that would|would) be (?:really |very |so )?"
    r"(?:great|nice|good|helpful|lovely|awesome|cool|kind|useful|ideal)"
    r" if you (?:could |would |can )?(?:please )?|"
    r"(?:be sure|make sure|don't forget|do not forget|remember|feel free|make a note|try) to |"
    r"make sure (?:that )?you |i need you to |"
    r"i(?:'m gonna|'m going to| am going to|'ll) need you to |do me a favou?r and |"
    r"you (?:can|could|should|must) |"
    r"if you (?:can|could|would|don't mind)(?: please)?,? (?:please )?|any chance you could |"
    r"is it possible to |let's have you )*"
)
_MINDING: Final = r"(?:(?:would you|do you|you) mind|mind|how about|what about) "
_A: Final = r"(?:a |an |another |the |me a |me an |up a |up an |us a )"
_KIND: Final = r"(?:[a-z]+ ){0,2}?"
_NUDGE: Final = (
    r"(?:reminder|reminders|alarm|alert|nudge|heads-up|heads up|notification|ping|timer|buzz|shout)"
)
ASK: Final = re.compile(
    rf"(?:{_POLITE}(?:keep reminding (?:me|us)|remind (?:me|us)(?: again)?)\b"
    rf"|{_MINDING}reminding (?:me|us)\b"
    rf"|{_POLITE}(?:don't|do not|never) let (?:me|us) forget\b"
    rf"|{_POLITE}(?:make sure|see to it|ensure)(?: that)? (?:i|we)(?: don't forget| remember)?\b"
    rf"|{_POLITE}(?:set|create|add|put|schedule|make|leave|give|send|set up|get|need|want) "
    rf"(?:me |us |up )?{_A}?{_KIND}{_NUDGE}\b(?: (?:on|in|to) (?:my|the|our) (?:calendar|list"
    rf"|phone))?"
    rf"|(?:i|we)(?:'d| would)?(?: really)? (?:like|love|want|need|appreciate|be glad of"
    rf"|be grateful for"
    rf"|could use|could do with) (?:to get |to have |getting |having )?(?:a|an"
    rf"|another) {_KIND}{_NUDGE}\b"
    rf"|(?:a|an) {_KIND}(?:reminder|nudge)\b"
    r"|(?:i|we)(?:'d like| would like| want| need) to be reminded\b"
    r"|(?:note to self|todo|to-do|to do|reminder(?: (?:to|for) (?:self|me|myself|us))?|memo to self"
    r"|self-reminder)(?=\s?[:,—–-])"
    rf"|{_POLITE}(?:make a note|take a note|keep in mind|jot down)\b(?= to | that )"
    r"|(?:i|we)(?: really| absolutely)? (?:must|have to|need to|should|mustn't|must not|can't"
    r"|cannot"
    r"|can not|better|gotta|shouldn't|should not|better not|don't want to|do not want to)"
    r" (?:not )?(?:remember|forget)(?= to )"
    r"|(?:i'd|i had|i) better (?:not )?(?:remember|forget)(?= to ))"
)
# Ways to reach the speaker; the whole clause is what is to be done unless "to" or "about" follows.
REACH: Final = re.compile(
    rf"{_POLITE}(?:(?:ping|nudge|alert|notify|message|text|email|e-mail|buzz|poke|bug|wake|call"
    r"|warn|prompt|tell|ask|inform|update|brief|pester|phone|contact)"
    r" (?:me|us)|let (?:me|us) know|give (?:me|us) (?:a|an) (?:[a-z]+ )?"
    r"(?:call|shout|ring|nudge|heads-up|heads up|ping|buzz|poke|update|summary)"
    r"|(?:follow up|follow-up|check back|check back in|check in|get back|come back|circle back"
    r"|check"
    r"|check up) (?:with|on|to) (?:me|us|this|it|that)|(?:don't|do not|never) let (?:me"
    r"|us)(?= [a-z]))\b(?: up\b)?"
    r"|(?:i|we)(?:'d| would)?(?: really)? (?:like|want|need|love) to be"
    r" (?:notified|alerted|told|informed|pinged|woken|warned|messaged|called|nudged"
    r"|asked)\b(?: up\b)?"
)
_REMEMBER: Final = (
    rf"{_POLITE}(?:remember|don't forget|do not forget|never forget|be sure|make sure)(?= to )"
)
REMEMBER: Final = re.compile(_REMEMBER)

_MANY: Final = (
    r"(?: really| also| still| definitely| just| absolutely| actually| then| probably| first"
    r"| always| urgently| kind of)?"
)
DUTY: Final = re.compile(
    rf"(?:i|we){_MANY}(?P<how> have got to|'ve got to| have to|'ve to| need to| must| gotta| got to"
    rf"|'ll have to| will have to|'ll need to| will need to|'m supposed to| am supposed to"
    r"| are supposed to|'re supposed to|'m due to| am due to| ought to|'d better| had better"
    r"| better"
    r"|'m required to| am required to| should|'ve agreed to| agreed to| promised to|'ve promised to"
    r"| have promised to| promise to| promise i'll| promise i will|'ll try to| will try to"
    r"| committed to| am committed to|'m committed to"
    r"|(?:'ve)? (?:promised|told|agreed with|assured) (?:[a-z]+ ){1,3}?(?:to|that i'd|i'd|i would"
    r"|that i would|i'll|i will|that i'll))"
    rf"{_MANY} (?!not )(?=[a-z])"
)
WILL: Final = re.compile(
    rf"(?:i|we){_MANY}(?P<how>'ll| will| shall|'m going to| am going to|'re going to| are going to"
    r"|'m gonna|'re gonna| am gonna|'m about to| plan to|'m planning to| am planning to"
    r"|'re planning to| are planning to| intend to|'m planning on| aim to)"
    rf"{_MANY} (?!not |never )(?=[a-z])"
)
WISH: Final = re.compile(
    rf"(?:i|we){_MANY} ?(?:want to|wanna|would like to|'d like to|'d love to|would love to|hope to"
    rf"|'m hoping to|am hoping to|was hoping to|wish to|'re hoping to|are hoping to){_MANY}"
    r" (?!not )(?=[a-z])"
)
TOLD: Final = re.compile(
    r"(?!i |we |you )(?:[a-z'¤]+ ){1,4}?(?:asked|told|wants|needs|expects|requires|wanted"
    r"|instructed) (?:me|us) to (?=[a-z])"
)
PROMISE: Final = re.compile(
    r"(?:i|we)(?:'ll| will|'m going to| am going to| shall)"
    r"(?: make sure to| be sure to| certainly| definitely| gladly| happily| also| then| just)*"
    r" (?:remind|ping|nudge|notify|alert|message|tell|ask|wake|warn|email|text|prompt) you\b"
    r"|(?:i|we)(?:'ll| will) (?:let you know|send you (?:a|another) (?:reminder|nudge|ping)"
    r"|set (?:you )?a reminder|give you (?:a|an) (?:[a-z]+ )?(?:reminder|nudge|heads-up|heads up)"
    r"|(?:follow up|check back|check back in|check in|get back|come back|circle back) (?:with|to)"
    r" you)\b"
)
# Said by an assistant that has made one.
SET_UP: Final = re.compile(
    r"(?:i|we)(?:'ve| have)? (?:just )?(?:set|scheduled|created|added|set up) (?:you )?(?:a|the"
    r"|your)"
    r" (?:[a-z]+ )?(?:reminder|alarm|timer)\b(?: for you\b)?"
    r"|(?:a |your |the )?(?:reminder|alarm) (?:is |has been |was )?(?:set|scheduled|created)\b"
)
OFFER: Final = re.compile(
    r"\bif (?:you|you'd|u) ?(?:like|want|wish|prefer|would like|need|would prefer)\b"
)

# Starts of what a clause waits for.
CONDITION: Final = re.compile(
    r"(?:(?:as soon as|the (?:very )?(?:moment|minute|second|instant)(?: that)?|whenever|when|once"
    r"|immediately after|right after|straight after|shortly after|soon after|just after|after"
    r"|right before|just before|shortly before|before|while|if(?: ever)?|in case"
    r"|in the event(?: that)?"
    r"|every time(?: that)?|each time(?: that)?|any time(?: that)?|anytime"
    r"|(?:the )?next time(?: that)?|upon|on (?=(?:[a-z]+'s )?arriv|completion|delivery|receipt)"
    r"|(?:in|during) (?:our|the|any|a) (?:next|future|upcoming)"
    r"(?= (?:conversation|chat|talk|discussion|session)))\b)"
)
STATE_WORDS: Final = frozenset("when whenever while if once".split())
HABITS: Final = frozenset({"whenever", "every time", "each time", "any time", "anytime"})

_TALK: Final = (
    r"(?:talk(?:ing)?|speak(?:ing)?|chat(?:ting)?|convers(?:e|ing)|ask(?:s|ing)?|hear(?:ing)?"
    r"|inquir(?:e|es|ing)|enquir(?:e|es|ing)|think(?:ing)?|read(?:ing)?|complain(?:s|ing)?"
    r"|brainstorm(?:ing)?|wonder(?:ing)?|joke|joking|talks|speaks|chats|write|writing)"
)
_WHO: Final = (
    r"(?:(?:i|we|you|anyone|anybody|someone|somebody|people|they|he|she|one of us|either of us"
    r"|the user|a customer|customers|[a-z]+)\b(?:'m|'re|'s)? ?)"
)
TOPIC: Final = (
    re.compile(
        rf"{_WHO}(?:am |are |is |start |starts |begin |end up |get |happen to |next |ever |again )*"
        rf"{_TALK}(?: (?:me|you|us|again|next))?(?: (?:about|of|on|regarding|for)) (?P<topic>.+)"
    ),
    re.compile(
        rf"{_WHO}(?:am |are |is |start |starts |begin |get to |happen to |next |ever |again )*"
        r"(?:mention(?:s|ing)?|discuss(?:es|ing)?|bring(?:s|ing)? up|rais(?:e|es|ing)|refer(?:s"
        r"|ring)? to"
        r"|touch(?:es|ing)? on|get(?:s|ting)? (?:on)?to the (?:topic|subject) of|com(?:e|es"
        r"|ing) to the"
        r" (?:topic|subject) of|get onto|get on to|turn to|return to|come back to|go over"
        r"|plan(?:ning)?"
        r"|revisit|say)"
        r" (?P<topic>.+)"
    ),
    re.compile(
        r"(?:the )?(?:topic|subject|question|issue|matter|conversation|discussion|talk|chat|name"
        r"|word"
        r"|theme)(?: of| about| is| turns to| is about| moves to| moves on to| comes to| gets to"
        r"| comes around to| shifts to)* (?P<topic>.+?)(?: (?:comes?|pops?|gets?|is|are|arises?"
        r"|shows?)\b.*)?$"
    ),
    re.compile(
        r"(?P<topic>.+?) (?:(?:ever |next |again )*(?:comes?|pops?|crops?) up\b|(?:is|are|gets?)"
        r" (?:ever )?(?:mentioned|discussed|brought up|raised|talked about|the topic"
        r"|on the table)\b"
        r"|arises?$).*"
    ),
    re.compile(
        r"(?:discussing|talking about|speaking about|chatting about|mentioning|asking about"
        r"|bringing up"
        r"|writing about|thinking about) (?P<topic>.+)"
    ),
    re.compile(
        r"(?:conversation|chat|talk|discussion|session) (?:about|on|regarding"
        r"|concerning) (?P<topic>.+)"
    ),
)
# A state that lasts is a context: "I'm working on the thesis".
DOING: Final = re.compile(
    r"(?:i|we)(?:'m| am|'re| are) (?:back to |busy |next |already |again )*(?P<topic>[a-z]+ing\b.*)"
)
NOT_DOING: Final = frozenset(
    "leaving going coming arriving being having finishing getting returning".split()
)

# Verbs of "you" that tell of an event rather than of what the listener might like.
YOU_SEE: Final = re.compile(
    r"you(?:'ve|'re| have| are)? ?(?:hear|see|notice|receive|spot|detect|find out|finish|finished"
    r"|complete|completed|done|talk (?:to|with)|speak (?:to|with)|meet|run into|merged?|deployed?"
    r"|get (?:a|an|the|any|his|her|their|my|word|confirmation))\b"
)
NO_EVENT: Final = re.compile(
    r"(?:(?:i|we) (?:remember (?:correctly|right)|recall|understand|may|can|forget|think of)\b"
    r"|(?:possible|necessary|needed|so|not|applicable|available|in doubt|required|appropriate"
    r"|nothing else|all else|ever|all|long|then|that|this|it|later|a while|anything|it's too late"
    r"|it is too late|only|any|more|again|convenient)$"
    r"|(?:i'm not (?:mistaken|wrong|careful)|i am not mistaken|it's not too (?:much|late)|it's no"
    r" (?:trouble|bother)|it isn't too much|it helps|that helps|it matters|that matters"
    r"|i grow up|i die|i retire|that's (?:ok|okay|fine)|it's (?:ok|okay|possible|fine)"
    r"|there(?:'s| is) (?:a |any |no )?(?:time|chance|need|doubt))\b)"
)
# "Let me know if that works" asks for an answer now.
ASKS_NOW: Final = re.compile(
    r"(?:you|i|we|that|this|these|those|it|there|any|anything)(?:'s|'re|'m|'d|'ve)?\b"
)
IS_OVER: Final = re.compile(
    r"\b(?:done|ready|finished|completed?|completes|over|finishes|ends|arrives?|arrived|lands"
    r"|landed"
    r"|back|here|available|has|have|gets|comes|appears|succeeds|fails|replies|answers|passes"
    r"|closed)\b"
)
# Orders that tell how an answer is to look, not what to do later.
OF_ANSWERS: Final = frozenset(
    """return print raise throw output respond answer reply use write include format
    assume treat skip ignore consider suppose imagine note see think feel try avoid keep
    prefer explain summarize summarise translate let's let have be know look like""".split()
)
# Orders whose time belongs to what they are about: "book a table for tomorrow".
OF_PLANS: Final = frozenset(
    """book schedule plan reserve find show give list suggest recommend write draft create
    make add move set help compare look explain get search figure summarize summarise
    translate describe let let's imagine suppose see have be know think wait stay sleep
    enjoy keep hope thank say meet come join guess assume happen happens open close leave
    read play watch work last change use fix generate calculate compute convert predict
    forecast put invite arrange organize organise rain is are was do does did did can
    could would will should name reschedule postpone cancel push shift expect visit travel
    fly go drive start finish begin stop end run""".split()
)
STATES: Final = frozenset(
    """be have see know like love need want turn miss think feel hope stay sleep live
    wait believe become get enjoy understand remain seem admit say never always probably
    not still""".split()
)
ANSWERED: Final = frozenset("know understand see hear learn find figure be sure ask say".split())
VERBS: Final = BASES | frozenset(
    """ping merge email e-mail text nudge tell ask mention bring send water feed book
    archive fetch restart rerun re-run retry rotate revert rollback escalate forward
    schedule draft prep print renew file mail message alert log trigger enable disable
    close reopen reply inform refill recharge unplug turn charge collect pick drop grab
    mow vacuum hoover point raise warn congratulate wish cancel transfer sync deploy tag
    publish defrost backup back follow circle swap bump flag cc suggest recommend propose
    reorder restock pour stir reheat chase greet stop start go set let do nag dial scan
    tweet unlock lock plug unpack page kick recheck double-check""".split()
)
URGENT: Final = re.compile(
    r"\b(?:urgent(?:ly)?|important|critical|crucial|asap|absolutely|must|don't let me forget"
    r"|without"
    r" fail|whatever happens|make sure|vital|essential)\b"
)
"""Words that make an intention weigh more."""
UNREAL: Final = re.compile(
    r"^\W*(?:please |can you |could you )*(?:translate|rewrite|rephrase|paraphrase|proofread"
    r"|correct"
    r"|spell|pronounce|type|how (?:do|would) (?:i|you|we) say)\b"
    r"|\b(?:imagine|suppose|supposing|pretend|hypothetically|for example|e\.g|for instance"
    r"|let's say"
    r"|as if|in theory|might have|would have|could have|wish i|if i were|if only)\b"
)
PAST_TIMES: Final = re.compile(
    r"\b(?:yesterday|ago|last (?:night|week|month|year|summer|winter|spring|time|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday))\b"
)
CUE: Final = re.compile(
    r"remind|forget|remember|alarm|timer|nudge|ping|heads|note to|memo|make sure|when|once|after"
    r"|before|if |soon as|moment|minute|time|upon|while|tomorrow|tonight|today|morning|afternoon"
    r"|evening|night|day|week|month|year|hour|noon|\d|next|every|each|january|february|march|april"
    r"|may|june|july|august|september|october|november|december|let (?:me|you|us) know|ask me"
    r"|tell me|wake|conversation|chat|quarter|half|in case|eod|daily|weekend|fortnight|christmas"
)
