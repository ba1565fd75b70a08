"""What the report's words mean: verdicts, levels, severities, whose a statement is, evidence."""

from collections.abc import Mapping
from html import escape

VERDICT = {
    "holds": "as printed, at the level and in the scope given",
    "holds-repaired": "false as printed, true after the repair that is stated",
    "refuted": "false, by a counterexample or a proof of the contrary",
    "open": "it rests on a claim that does not hold",
}
LEVEL = {
    "proved": "the kernel of Coq has checked a proof of the statement",
    "symbolic": "computer algebra has reduced it to an identity, or to a sum of positive terms",
    "certified": "exact fractions or interval arithmetic: an instance that refutes, or a whole box",
    "property": "tried on many drawn instances; not proved",
    "numeric": "computed with floating-point numbers at some instances",
}
WHOSE = {
    "implied": "implied by the text",
    "reading": "one reading of several",
    "ours": "our own statement",
}
SEVERITY = {
    "theorem": "a result, a rule or a guarantee is false as stated",
    "constant": "a constant, a factor, a sign or an index of a formula is wrong, or a number of a "
    "table",
    "step": "a step of a proof, or a case at the border of a hypothesis, is false or missing",
    "remark": "a sentence beside the results does not hold: a motive, a survey, a caption",
    "misprint": "what is meant is clear from the context",
}
EVIDENCE = {
    "counterexample, witness": "one instance, with the value and the meaning of every name in it; "
    "indices begin at 0. The first violates the statement, the second satisfies it",
    "residuals vanish": "the two sides' differences: the named routine of computer algebra reduces "
    "them to 0, and they are 0 at spot checks without it",
    "a sum of positive terms": "of the expression whose sign is asked for, each visibly so",
    "examples": "instances drawn at random; those that break a hypothesis are discarded. "
    "The margin is by how much the statement held where it held least",
    "proof": "what Coq's kernel has checked, in Coq; beside it the evidence where no Coq is "
    "installed",
}


def vocabulary() -> str:
    """All of them, as HTML that is closed at first."""
    return (
        "<details><summary>What the words mean</summary>\n<p>A <em>claim</em> is a statement of a "
        "paper. <em>Printed</em> is the paper's wording, <em>checked</em> what was decided, "
        "<em>scope</em> for which cases the evidence speaks: to refute, one case is enough. Its "
        "<em>repaired</em> form, next to it, is a true statement as near to the printed one as we "
        "found. A <em>gap</em> is a false or missing step in the proof of a statement that is "
        "true. A <em>mutant</em> is a changed statement that the same check must tell from the "
        "claim: a wrong one where the claim holds; where it is refuted, one that the same "
        f"evidence does not refute, such as its repair.</p>\n<p>Verdicts:</p>{_list(VERDICT)}\n"
        "<p>Levels, the strongest first: how well the verdict is supported. A claim has the "
        "weakest level of its evidence and of what it rests on; a repaired one has two, of the "
        f"refutation and of the repair.</p>{_list(LEVEL)}\n"
        "<p>Whose statement it is, where it is not the paper's as printed. Only what is printed "
        "counts as an error; an erratum of another statement says where a reader may go wrong, "
        f"and is marked.</p>{_list(WHOSE)}\n"
        f"<p>Severities of errata, the most severe first:</p>{_list(SEVERITY)}\n"
        "<p>Lines of evidence. A name such as <code>qffl.lemma_6:case(q=1)</code> is a function "
        f"of the module <code>fairfl.claims.qffl.lemma_6</code>.</p>{_list(EVIDENCE)}\n"
        "<p>Notation is each paper's own. Numbers such as 1/3 are exact. To repeat a check on your "
        "machine, run <code>fairfl claims check ID</code>, with the id that stands under a claim's "
        "title; <code>fairfl claims show ID</code> prints all that is known of it.</p></details>\n"
    )


def in_short() -> str:
    """Verdicts, levels, severities and whose a statement is, as lines of Markdown."""
    heads = {"Verdicts": VERDICT, "Levels": LEVEL, "Severities": SEVERITY, "Marks": WHOSE}
    lines = (
        f"- {head}: {'; '.join(f'*{word}*: {text}' for word, text in words.items())}."
        for head, words in heads.items()
    )
    return "\n".join(lines) + "\n"


def tag(text: str, verdict: str | None = None) -> str:
    """A verdict in its colour; ``text`` may say more than that."""
    return f'<span class="tag {escape(verdict or text)}">{escape(text)}</span>'


def _list(words: Mapping[str, str]) -> str:
    terms = ((tag(word) if word in VERDICT else word, text) for word, text in words.items())
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in terms)}</dl>"
