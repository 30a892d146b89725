"""The words that name dates in Spanish, French, German, Italian, Portuguese, Dutch: a data table.

Phrases are tokens parted by spaces, in lower case: punctuation stands as a token of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language. `after` words stand behind what they qualify, `before` words in front."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days: Mapping[tuple[str, ...], int]  # days from today
    units: Mapping[str, str]
    numbers: Mapping[str, int]
    ago_before: frozenset[tuple[str, ...]]
    ago_after: frozenset[str]
    ahead: frozenset[tuple[str, ...]]
    last: frozenset[str]
    next: frozenset[str]
    this: frozenset[str]
    fillers: frozenset[str]  # between day, month and year
    inside: frozenset[str]  # "in", before a month or a year
    at: frozenset[tuple[str, ...]]  # before a clock time
    hours: frozenset[str]  # after the hour
    suffixes: frozenset[str]  # of an ordinal day
    shy: frozenset[str]  # weekdays that are other words unless something vouches for them
    no_day_after: frozenset[str]  # words after which a day word means something else
    cues: frozenset[str] = field(default_factory=frozenset)


def _names(row: str, first: int = 0) -> dict[str, int]:
    """Number the words of a row; spellings of one thing are parted by a slash."""
    return {
        spelling: place
        for place, word in enumerate(row.split(), first)
        for spelling in word.split("/")
    }


def _units(row: str) -> dict[str, str]:
    names = ("minute", "hour", "day", "week", "month", "year")
    return {s: n for n, word in zip(names, row.split(), strict=True) for s in word.split("/")}


def _phrases(*phrases: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in phrases)


def _set(row: str) -> frozenset[str]:
    return frozenset(row.split())


def _lexicon(
    *,
    months: str,
    weekdays: str,
    days: dict[str, int],
    units: str,
    numbers: str,
    ago_before: tuple[str, ...] = (),
    ago_after: str = "",
    ahead: tuple[str, ...],
    last: str,
    next_: str,
    this: str,
    fillers: str,
    inside: str,
    at: tuple[str, ...],
    hours: str,
    suffixes: str = "",
    shy: str = "",
    no_day_after: str = "",
) -> Lexicon:
    month_names, day_names, unit_names = _names(months, 1), _names(weekdays), _units(units)
    day_phrases = {tuple(phrase.split()): offset for phrase, offset in days.items()}
    cues = {*month_names, *day_names, *unit_names, *(p[0] for p in day_phrases), *"0123456789"}
    return Lexicon(
        months=month_names,
        weekdays=day_names,
        days=day_phrases,
        units=unit_names,
        numbers=_names(numbers, 1),
        ago_before=_phrases(*ago_before),
        ago_after=_set(ago_after),
        ahead=_phrases(*ahead),
        last=_set(last),
        next=_set(next_),
        this=_set(this),
        fillers=_set(fillers),
        inside=_set(inside),
        at=_phrases(*at),
        hours=_set(hours),
        suffixes=_set(suffixes),
        shy=_set(shy),
        no_day_after=_set(no_day_after),
        cues=frozenset(cues),
    )


LANGUAGES: Final[dict[str, Lexicon]] = {
    "es": _lexicon(
        months="enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre "
        "noviembre diciembre",
        weekdays="lunes martes miércoles/miercoles jueves viernes sábado/sabado domingo",
        days={"hoy": 0, "ayer": -1, "mañana": 1, "anteayer": -2, "antier": -2, "anoche": -1}
        | {"pasado mañana": 2, "antes de ayer": -2, "esta noche": 0, "esta mañana": 0},
        units="minuto/minutos hora/horas día/días/dia/dias semana/semanas mes/meses año/años",
        numbers="un/una/uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
        ago_before=("hace",),
        ago_after="atrás",
        ahead=("en", "dentro de"),
        last="pasado pasada último última anterior",
        next_="próximo próxima proximo proxima siguiente",
        this="este esta",
        fillers="de del",
        inside="en desde hasta durante de",
        at=("a las", "a la"),
        hours="h horas",
        suffixes="º ° o",
        no_day_after="la cada buena",
    ),
    "fr": _lexicon(
        months="janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre "
        "novembre décembre/decembre",
        weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
        days={"hier": -1, "demain": 1, "avant - hier": -2, "après - demain": 2, "ce soir": 0}
        | {"aujourd ' hui": 0, "aujourd ’ hui": 0, "ce matin": 0},
        units="minute/minutes heure/heures jour/jours semaine/semaines mois an/ans/année/années",
        numbers="un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        ago_before=("il y a", "y a"),
        ahead=("dans", "d ' ici", "d ’ ici"),
        last="dernier dernière passé passée",
        next_="prochain prochaine",
        this="ce cet cette",
        fillers="de",
        inside="en depuis de",
        at=("à",),
        hours="h heures heure",
        suffixes="er",
    ),
    "de": _lexicon(
        months="januar/jänner februar märz/maerz april mai juni juli august september oktober "
        "november dezember",
        weekdays="montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
        days={"heute": 0, "gestern": -1, "morgen": 1, "vorgestern": -2, "übermorgen": 2},
        units="minute/minuten stunde/stunden tag/tage/tagen woche/wochen monat/monate/monaten "
        "jahr/jahre/jahren",
        numbers="ein/eine/einer/einem/einen zwei drei vier fünf sechs sieben acht neun zehn elf "
        "zwölf",
        ago_before=("vor",),
        ahead=("in",),
        last="letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen",
        next_="nächste nächsten nächster nächstes kommende kommenden",
        this="diese diesen dieser dieses diesem",
        fillers="",
        inside="im in seit",
        at=("um", "gegen"),
        hours="uhr h",
        no_day_after="guten am jeden heute gestern diesen",
    ),
    "it": _lexicon(
        months="gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
        "novembre dicembre",
        weekdays="lunedì/lunedi martedì/martedi mercoledì/mercoledi giovedì/giovedi "
        "venerdì/venerdi sabato domenica",
        days={"oggi": 0, "ieri": -1, "domani": 1, "dopodomani": 2, "stasera": 0, "stamattina": 0}
        | {"l ' altro ieri": -2, "l ’ altro ieri": -2, "altro ieri": -2},
        units="minuto/minuti ora/ore giorno/giorni settimana/settimane mese/mesi anno/anni",
        numbers="un/una/uno due tre quattro cinque sei sette otto nove dieci undici dodici",
        ago_after="fa",
        ahead=("tra", "fra"),
        last="scorso scorsa passato passata",
        next_="prossimo prossima",
        this="questo questa",
        fillers="di del",
        inside="in nel a ad da dal di",
        at=("alle", "alla"),
        hours="ore h",
        suffixes="º °",
    ),
    "pt": _lexicon(
        months="janeiro fevereiro março/marco abril maio junho julho agosto setembro outubro "
        "novembro dezembro",
        weekdays="segunda terça/terca quarta quinta sexta sábado/sabado domingo",
        days={"hoje": 0, "ontem": -1, "amanhã": 1, "anteontem": -2, "depois de amanhã": 2},
        units="minuto/minutos hora/horas dia/dias semana/semanas mês/meses/mes ano/anos",
        numbers="um/uma dois/duas três/tres quatro cinco seis sete oito nove dez onze doze",
        ago_before=("há", "faz"),
        ago_after="atrás atras",
        ahead=("em", "daqui a", "dentro de"),
        last="passado passada último última",
        next_="próximo próxima proximo proxima",
        this="este esta neste nesta",
        fillers="de do",
        inside="em desde no de",
        at=("às", "as", "à"),
        hours="h horas",
        suffixes="º °",
        shy="segunda terça terca quarta quinta sexta",
    ),
    "nl": _lexicon(
        months="januari februari maart april mei juni juli augustus september oktober november "
        "december",
        weekdays="maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        days={"vandaag": 0, "gisteren": -1, "morgen": 1, "eergisteren": -2, "overmorgen": 2}
        | {"vanavond": 0, "gisteravond": -1},
        units="minuut/minuten uur/uren dag/dagen week/weken maand/maanden jaar/jaren",
        numbers="een/één twee drie vier vijf zes zeven acht negen tien elf twaalf",
        ago_after="geleden",
        ahead=("over",),
        last="vorige vorig afgelopen laatste",
        next_="volgende volgend komende",
        this="deze dit",
        fillers="",
        inside="in sinds",
        at=("om",),
        hours="uur u",
        suffixes="e",
        no_day_after="goede elke iedere de",
    ),
}
