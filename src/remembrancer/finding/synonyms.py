"""Words that people ask with for what they tell in others: "my job" of "I work at Acme".

A question's word that a bank has nowhere stands for the one of its line that most texts have, as a
mistyped word does (`spelling`). English alone.
"""

from __future__ import annotations

from functools import cache

# What is asked with: what is told with. Each word before the colon may stand for those after it.
_LINES = """
job profession occupation career living employment: work job nurse teacher engineer profession
employed employer company employers: work company employer job office
work: job working employed employer office
pet pets animal animals: dog cat pet puppy kitten rabbit hamster parrot horse
spouse married marriage: wife husband spouse married partner wedding
wife: spouse married wedding
husband: spouse married wedding
partner: girlfriend boyfriend wife husband fiance fiancee spouse partner
kids children child kid: son daughter kids child baby children
parents: mother father mum mom dad
mother mum mom: mom mum mother
father dad: dad father
siblings: brother sister sibling
boss supervisor: manager boss supervisor
manager: boss supervisor
colleague colleagues coworker coworkers: colleague coworker team
hobby hobbies interests pastime: hobby enjoy love like
home residence house address: live moved apartment flat house
city town country: live moved city town
apartment flat: flat apartment
car vehicle automobile: drive car
age old: years old turned age
birthday born birthdate: birthday born
illness disease condition sick: ill sick diagnosed disease
allergies allergy allergic: allergic allergy
diet eat: vegetarian vegan diet eat
movie movies: film movie
film films: movie film
vacation holiday holidays: trip vacation holiday travel
trip: vacation holiday travel
bought purchased: bought ordered purchased
university college school degree: studied study university college
doctor physician: doctor physician gp
money salary pay income: earn salary pay
phone mobile number: phone mobile number
"""


@cache
def told_with() -> dict[str, tuple[str, ...]]:
    """Return for each word that one may ask with the words that it may be told with."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _LINES.strip().splitlines():
        asked, told = (part.split() for part in line.split(":"))
        for word in asked:
            found[word] = tuple(each for each in told if each != word)
    return found
