"""Sphinx's settings for the site: `make docs`."""

import re
from pathlib import Path
from typing import Any

import fairfl
from fairfl.explorer.page import page
from fairfl.figures.catalog.all_figures import registered

DOCS = Path(__file__).parent
GALLERY, SKIPPED = DOCS / "gallery", ("real_data",)  # data that are not part of the package
INCLUDED = {"ARCHITECTURE.md": "architecture", "BENCHMARKS.md": "benchmarks"}
INCLUDED |= {"CHANGELOG.md": "changelog", "claims/README.md": "claims"}
INCLUDED |= {"CONTRIBUTING.md": "contributing"}
"""Pages outside of this folder, and their names on the site."""
OUTSIDE = re.compile(
    r"\[([^\]]+)\]\(((?:\.\./)*(?:[A-Z][A-Za-z.]+|claims/README\.md|results|forms\.py)(?:#[^)]*)?)\)"
)
"""Links to files that are not on the site, or have another name there."""
SCRIPT = '''r"""
{heading}
{line}

{text}
"""

import fairfl as ff

figure = ff.figures.{name}()
'''

project = html_title = "fairfl"
author = copyright = "the authors of fairfl"
version = release = fairfl.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
extensions += ["sphinx.ext.autosummary", "sphinx_gallery.gen_gallery"]
templates_path, exclude_patterns = ["_templates"], ["gallery", "_templates", "static"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
html_static_path, html_css_files = ["static"], ["site.css"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": True}
toc_object_entries_show_parents = "hide"
suppress_warnings = ["config.cache"]  # a function among the settings
autodoc_typehints = "none"
routing = [f"set_{name}_request" for name in ("fit", "predict", "score", "predict_proba")]
autodoc_default_options = {"exclude-members": ", ".join(routing)}  # scikit-learn's own
numpydoc_show_class_members = False


def _gallery() -> None:
    """A script for each figure."""
    GALLERY.mkdir(exist_ok=True)
    head = "Figures\n=======\n\nEach figure with the script that draws it.\n"
    (GALLERY / "GALLERY_HEADER.rst").write_text(head, "utf-8")
    for name, entry in registered().items():
        if name not in SKIPPED:
            heading = entry.title.split(":")[0]
            words = {"line": "=" * len(heading), "text": entry.title.replace("|", "\\|")}
            text = SCRIPT.format(heading=heading, name=name, **words)
            (GALLERY / f"plot_{name}.py").write_text(text, "utf-8")


def _linked(app: Any, where: Any, content: list[str]) -> None:
    """Links to files outside of this folder become links to pages that include them, or text."""
    root = "../" * where.count("/") if isinstance(where, str) else ""
    content[0] = OUTSIDE.sub(lambda match: _link(match[1], match[2], root), content[0])


def _link(words: str, target: str, root: str) -> str:
    """A link to the page that includes ``target``, or text; ``root`` leads to the first page."""
    name = next((page for page in INCLUDED if target.split("#")[0].endswith(page)), None)
    return f"[{words}]({root}{INCLUDED[name]}.md)" if name else words


def _docstring(app: Any, kind: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Adapt a docstring to numpydoc: text after "name : " becomes the description unless that is on
    the next line; |x| is an absolute value, not a substitution.
    """
    text = re.sub(r"(?<!`)\|", r"\\|", "\n".join(lines))
    lines[:] = re.sub(r"(?<=\.)  (?=[A-Z]\w+ : )", "\n", text).split("\n")  # a second error
    section, out = "", []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        section = line if after and set(after) == {"-"} else section
        match = re.match(r"(\S[\w.,* ]*) : (.+)", line)
        if section == "Returns" and line and out[-1] != "Returns" and out[-1].strip("-"):
            out[-1] += " " + line.strip()
        elif section in ("Parameters", "Attributes", "Raises") and match:
            typed = len(line) < 60 and after.startswith("    ")
            out += [line] if typed else [match[1], f"    {match[2]}"]
        elif section in ("Parameters", "Attributes") and line not in ("", section) and not out[-1]:
            out += ["Notes", "-----", line]  # text after the last parameter
            section = "Notes"
        else:
            out.append(line)
    lines[:] = out


def _returned(app: Any, kind: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Drop lines that numpydoc adds: the empty text of a type, and its mark."""
    lines[:] = [line for line in lines if line.strip() not in ("..", "!! processed by numpydoc !!")]


def _scraped(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """The figure of a script of the gallery."""
    from sphinx_gallery.scrapers import figure_rst

    path = next(block_vars["image_path_iterator"])
    block_vars["example_globals"]["figure"].savefig(path, dpi=200)
    return figure_rst([path], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "figures",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "image_scrapers": (_scraped,),
}


def _math(self: Any, node: Any) -> None:
    """Mathematics as MathML, which browsers draw without a network."""
    from docutils.nodes import SkipNode, math_block
    from latex2mathml.converter import convert

    kind = "block" if isinstance(node, math_block) else "inline"
    self.body.append(f'<span class="m">{convert(node.astext(), display=kind)}</span>')
    raise SkipNode


def _explorer(app: Any, error: Exception | None) -> None:
    """Write the explorer's page, to which the first page links."""
    (Path(app.outdir) / "explore.html").write_text(page(), "utf-8")


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx's events."""
    _gallery()
    app.connect("autodoc-process-docstring", _docstring, priority=100)
    app.connect("autodoc-process-docstring", _returned, priority=900)
    app.connect("source-read", _linked)
    app.connect("build-finished", _explorer)
    app.add_html_math_renderer("mathml", (_math, None), (_math, None))
    app.connect("include-read", lambda app, path, parent, content: _linked(app, "", content))
