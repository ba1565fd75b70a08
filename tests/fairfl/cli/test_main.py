"""What all commands share: help, versions, and exit codes."""

import subprocess
import sys

import fairfl as ff


def test_wrong_usage_and_no_certificate_have_their_codes(cli, tmp_path, monkeypatch):
    assert cli("frontier").exit_code == 2
    assert cli("nosuch").exit_code == 2
    assert cli("frontier", "x.csv", "--points", "1").exit_code == 2
    (tmp_path / "two.toml").write_text("[[clients]]\nmean = [3, 5]\n")

    def uncertain(*args, **kwargs):
        raise ff.CertificationError("no solution certified")

    monkeypatch.setattr("fairfl.reports.curves.frontier", uncertain)
    result = cli("frontier", tmp_path / "two.toml")
    assert (result.exit_code, result.stderr) == (1, "fairfl: error: no solution certified\n")


def test_version_and_help(cli):
    assert cli("--version").stdout == f"fairfl {ff.__version__}\n"
    shown = cli("--help").stdout
    assert all(command in shown for command in ("figures", "frontier", "reproduce", "bench"))


def test_help_is_fast():
    code = (
        "import sys, fairfl.cli.main\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'matplotlib', 'fairfl.solvers'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
