"""Makes questions and statements out of attributes.txt and updates.txt; README.md says how.

python3 eval/training/statements.py ITEMS
"""

import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).parent
SEED = 7
#: Items of each attribute, and how often each of them counts.
ITEMS = 60
WEIGHT = 0.1
NAMES = (
    "Marta Amrit Gwen Ewan Sandro Philippa Rukhsana Aldo Vera Hugo Daria Leif Ilse Tunde Polina "
    "Mateo Greta Aino Ottilie Keiko Nadia Farid Selin Bruno Odette Yusuf Hanne Cyril Dagny Emeka "
    "Fenna Goran Hester Ivo Jana Kelda Liam Mirek Nives Orla Pablo Quentin Rosa Stig Tove Ulrich "
    "Vigdis Wanda Xenia Yannis Zoya"
).split()
RELATIVES = [
    *(
        f"my {who}"
        for who in (
            "sister brother mother father wife husband son daughter cousin aunt uncle colleague "
            "neighbour niece grandmother flatmate boss"
        ).split()
    ),
    "my best friend",
    "dad",
    "mum",
]
#: Words after which the one who speaks is "me".
BEFORE_OBJECT = set(
    "for of to with at by reach call ring contact makes treats treat told teaches from above bring "
    "offer give address answer remind supervises than between hired keeps gives beside visited sold "
    "lent upstairs teach find sent onto on under near opposite costs gave next behind pays".split()
)
VERBS = {"am": "is", "have": "has", "do": "does", "go": "goes"}
ASKED_OF_ME = {"is": "am", "Is": "Am", "does": "do", "Does": "Do", "has": "have", "Has": "Have"}


def third(verb):
    """A verb as it is said of somebody else."""
    if verb in VERBS:
        return VERBS[verb]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|sh|ch|x|o)$", verb) else "s")


def render(text, who, value, thing=None):
    """A line of attributes.txt as it is said of somebody: "I", "user", a name or a relative."""
    first = who == "I"
    owner = "my" if first else who + ("'" if who.endswith("s") else "'s")
    text = text.replace("{n}", "me" if first else who).replace("{v}", value)
    if thing is not None:
        text = text.replace("{s}", thing)
    text = text.replace("@'s", owner).replace("~myself", "myself" if first else "themselves")
    text = text.replace("~my", "my" if first else "their")
    text = re.sub(r"~me (?=\w+\*|took|will)", "I " if first else "they ", text)
    if not first:
        text = re.sub(r"\bthey (\w+)\*", lambda m: "they " + {"am": "are"}.get(m[1], m[1]), text)
    text = text.replace("~me", "me" if first else "them")
    if first:
        text = re.sub(r"@0 (\w)", lambda m: m[1].upper(), text)
        text = re.sub(r"\b(\w+) @", lambda m: ASKED_OF_ME.get(m[1], m[1]) + " @", text)
    else:
        text = text.replace("@0", "@").replace("Am* @", "Is @").replace("am* @", "is @")
        text = text.replace("@ don't", "@ doesn't").replace("@ haven't", "@ hasn't")
    words = text.split(" ")
    for i, word in enumerate(words):
        before = words[i - 1].lower().strip("(") if i > 0 else ""
        me = "me" if before in BEFORE_OBJECT else "I"
        words[i] = word.replace("@", me if first else who)
    text = " ".join(words)
    capital = {"Do": "Does", "Am": "Is"}
    text = re.sub(
        r"(\w+)\*", lambda m: m[1] if first else capital.get(m[1]) or third(m[1].lower()), text
    )
    return text[0].upper() + text[1:]


def varied(text, rnd, question=False):
    """The same as people write it."""
    for long, short in (("I am ", "I'm "), ("I have ", "I've "), ("is not", "isn't")):
        if not question and rnd.random() < 0.4:
            text = text.replace(long, short)
    if rnd.random() < 0.15:
        text = text.lower()
    return text.rstrip(".?") if rnd.random() < 0.2 else text


def attributes():
    """What attributes.txt says, one dictionary each."""
    parts = {"+": "states", ">": "changes", "?": "questions", "-": "others"}
    read = []
    for line in (HERE / "attributes.txt").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "":
            continue
        if kind == "#":
            read.append({"name": rest, "things": [None], **{part: [] for part in parts.values()}})
        elif kind in ("values:", "subjects:"):
            read[-1][{"values:": "values", "subjects:": "things"}[kind]] = rest.split(" | ")
        else:
            read[-1][parts[kind]].append(rest)
    return read


def generated(all_attributes, rnd):
    """Items of each attribute: a statement, a newer one, and some that replace neither."""
    for attribute in all_attributes:
        statements = attribute["states"] + attribute["changes"]
        is_thing = attribute["things"] != [None]
        for _ in range(ITEMS):
            who = rnd.choice(["I", "I", "I", "user", rnd.choice(NAMES), rnd.choice(RELATIVES)])
            somebody = rnd.choice([name for name in NAMES + RELATIVES if name != who])
            thing = rnd.choice(attribute["things"])
            old_value, value, third_value = rnd.sample(attribute["values"], 3)
            asks_value = "{v}" in attribute["questions"][0]

            def say(text, value, who=who, thing=thing):
                return varied(render(text, who, value, thing), rnd)

            question = render(rnd.choice(attribute["questions"]), who, old_value, thing)
            old = rnd.choice(attribute["states"] if rnd.random() < 0.8 else attribute["changes"])
            new = rnd.choice(attribute["changes" if rnd.random() < 0.6 else "states"])
            if asks_value:
                new, value = rnd.choice(attribute["changes"]), old_value
            elif rnd.random() < 0.15:
                new = old
            other = [say(text, third_value) for text in rnd.sample(attribute["others"], 2)]
            for text in rnd.sample(statements, 2):
                if is_thing and "{s}" in text:
                    others = [other for other in attribute["things"] if other != thing]
                    other.append(say(text, third_value, thing=rnd.choice(others)))
                elif not is_thing and re.search(r"@|\{n\}", text):
                    other.append(say(text, third_value, who=somebody))
            for _ in range(3):
                another = rnd.choice([one for one in all_attributes if one is not attribute])
                text = rnd.choice(another["changes"] + another["states"])
                values = another["values"]
                other.append(say(text, rnd.choice(values), thing=rnd.choice(another["things"])))
            texts = [say(old, old_value), say(new, value), *other]
            if len(set(texts)) == len(texts):
                yield {
                    "question": varied(question, rnd, question=True),
                    "old": texts[0],
                    "new": texts[1],
                    "other": other,
                    "weight": WEIGHT,
                }


def written():
    """The items of updates.txt."""
    for line in (HERE / "updates.txt").read_text().splitlines():
        question, old, new, *other = line.split(" | ")
        yield {"question": question, "old": old, "new": new, "other": other, "weight": 1}


def main():
    items = [*written(), *generated(attributes(), random.Random(SEED))]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(items, ensure_ascii=False))
    print(f"{len(items)} items")


if __name__ == "__main__":
    main()
