"""Small files in the formats of the published ones, typed here, none of them real people."""

from pathlib import Path

import pytest

ADULT_TRAIN = """\
39, Private, 100, Bachelors, 13, Never-married, Sales, Husband, White, Male, 2174, 0, 40, United-States, <=50K
50, Private, 200, HS-grad, 9, Divorced, Sales, Wife, Black, Female, 0, 0, 13, ?, >50K
20, ?, 300, HS-grad, 9, Divorced, ?, Wife, White, Female, 0, 10, 60, Cuba, <=50K
30, Private, 150, Masters, 14, Divorced, Sales, Husband, White, Male, 0, 0, 40, Cuba, >50K
40, Local-gov, 250, HS-grad, 9, Divorced, Sales, Husband, White, Male, 0, 0, 40, Cuba, >50K
60, Private, 110, HS-grad, 9, Divorced, Sales, Wife, White, Female, 0, 0, 40, Cuba, <=50K
25, Private, 120, HS-grad, 9, Divorced, Sales, Husband, White, Male, 0, 0, 40, Cuba, <=50K

"""
ADULT_TEST = """\
|1x3 Cross validator
70, Private, 400, HS-grad, 9, Divorced, Sales, Husband, White, Male, 0, 0, 40, Peru, <=50K.
35, State-gov, 160, HS-grad, 9, Divorced, Sales, Wife, White, Female, 0, 0, 40, Cuba, >50K.

"""
COMPAS = """\
id,name,sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,\
c_charge_degree,c_charge_desc,decile_score,priors_count,two_year_recid
1,a,Male,69,Greater than 45,Other,0,1,0,0,0,F,"Poss 3,4 MDMA (Ecstasy)",1,0,0
3,b,Male,34,25 - 45,African-American,0,3,0,0,2,F,Battery,3,2,1
4,c,Female,25,25 - 45,African-American,0,4,0,1,4,M,Battery,4,4,1
5,d,Female,26,25 - 45,Caucasian,0,8,1,0,1,M,,8,1,0
6,e,Male,20,Less than 25,Caucasian,1,1,0,0,8,F,Battery,1,8,1
7,f,Female,19,Less than 25,Hispanic,0,1,0,0,0,M,Theft,1,0,0
8,g,Male,44,25 - 45,African-American,0,6,0,0,14,F,Theft,6,14,0
9,h,Male,43,25 - 45,Caucasian,0,4,0,0,16,F,Theft,4,16,1
10,i,Female,39,25 - 45,African-American,0,1,0,0,0,M,Battery,1,0,0
11,j,Male,21,Less than 25,Asian,0,3,0,0,1,F,Fraud,3,1,1
"""
BANK_HEADER = (
    "age;job;marital;education;default;balance;housing;loan;contact;day;month;"
    "duration;campaign;pdays;previous;poutcome;y"
)
BANK_AGES = (18, 32, 33, 36, 37, 42, 43, 51, 52, 95)
BANK_BINS = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)


def bank_rows(ages: tuple[int, ...], separator: str) -> list[str]:
    """One customer per age; every third has a personal loan, every fourth subscribes."""
    rows = []
    for i, age in enumerate(ages):
        loan, y = ("yes" if i % 3 == 0 else "no"), ("yes" if i % 4 == 0 else "no")
        cells = f"{age} admin. single unknown no {100 * i - 50} yes {loan} cellular 5 may {60 + i}"
        rows.append(separator.join([*cells.split(), "1", "-1", "0", "unknown", y]))
    return rows


def quoted(row: str) -> str:
    """UCI puts texts in double quotes, numbers not."""
    cells = row.split(";")
    return ";".join(cell if cell.lstrip("-").isdigit() else f'"{cell}"' for cell in cells)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with small Adult and COMPAS files and the raw Bank file."""
    root = tmp_path / "data"
    for name, content in {
        "adult/adult.data": ADULT_TRAIN,
        "adult/adult.test": ADULT_TEST,
        "compas/compas-scores-two-years.csv": COMPAS,
        "bank/bank-full.csv": "\n".join(
            quoted(row) for row in [BANK_HEADER, *bank_rows(BANK_AGES, ";")]
        )
        + "\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    return root


@pytest.fixture
def binned_bank_folder(tmp_path: Path) -> Path:
    """The customers of `folder` in FedFB's form: commas, an index, ages as bins."""
    root = tmp_path / "binned"
    (root / "bank").mkdir(parents=True)
    lines = ["," + BANK_HEADER.replace(";", ",")]
    lines += [f"{i},{row}" for i, row in enumerate(bank_rows(BANK_BINS, ","))]
    (root / "bank" / "bank_cat_age.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder in force, and no FAIRFL_DATA."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FAIRFL_DATA", raising=False)
    return tmp_path / "cache" / "fairfl"
