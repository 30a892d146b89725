"""Words that people ask with for what they tell in others: "my job" of "I work at Acme".

A question's word that a bank has nowhere stands for the one of its line that most texts have, as a
mistyped word does (`spelling`), but counts less: here are words that vectors do not bring together,
no synonyms such as "flat" and "apartment", which they do. English alone.
"""

from __future__ import annotations

from functools import cache

TOLD = 0.3  # weight of a word that stands for what is asked

# What is asked with: what is told with. Each word before the colon may stand for those after it.
_LINES = """
job profession occupation career living employment: work job profession
employed employer employers: work company employer job
work: job working employed employer
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
hobby hobbies interests pastime: hobby enjoy love like
home residence address: live
age: years old
birthday born birthdate: birthday born
allergies allergy allergic: allergic allergy
diet: vegetarian vegan diet eat
salary income: earn salary pay
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
