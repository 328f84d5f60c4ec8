"""Where `scan run` finds builds without a setting."""

from dataclasses import replace

import pytest

from scan.extensions.contract_details.builds.run_settings import build_folders, find
from scan.extensions.contract_details.builds.settings import Settings
from scan.setting_kinds import read_variables
from scan.settings import Settings as CoreSettings


@pytest.mark.parametrize(
    ("text", "out"),
    {
        "": "out",
        '[profile.default]\nout = "build"': "build",
        '[profile.default]\nout = "../../etc"': "out",
        '[profile.default]\nout = "/etc"': "out",
        "[profile.default]\nout = 5": "out",
        "[[[": "out",
        "a = " + "[" * 100_000: "out",
    }.items(),
    ids=lambda text: text[:20],
)
def test_foundry_s_output_folder_is_in_the_project(text, out, tmp_path):
    (tmp_path / "foundry.toml").write_text(text)
    assert build_folders(tmp_path) == [tmp_path / out]


# Where projects are, and the folders that are found where the service starts in `here`.
PLACES = {
    "the folder": ("here", ["here/out"]),
    "a parent": (".", ["out"]),
    "a usual place inside": ("here/packages/hardhat", ["here/packages/hardhat/artifacts"]),
    "the one beside": ("vault", ["vault/out"]),
    "two beside": ("vault other", []),
    "far above": ("here/a/b/c", []),
}


@pytest.mark.parametrize(("paths", "folders"), PLACES.values(), ids=PLACES)
def test_a_project_is_found_where_the_service_starts(paths, folders, tmp_path):
    (tmp_path / "here").mkdir()
    name = "hardhat.config.ts" if "hardhat" in paths else "foundry.toml"
    for path in paths.split():
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        (tmp_path / path / name).touch()
    assert build_folders(tmp_path / "here") == [tmp_path / folder for folder in folders]


def test_they_are_read_on_a_developer_s_own_machine_unless_a_setting_says_otherwise(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foundry.toml").touch()
    core = CoreSettings()
    variables = find(core)
    assert variables.environment == {"SCAN_ARTIFACTS": str(tmp_path / "out")}
    assert variables.line.startswith(f"Builds: {tmp_path / 'out'} (not there yet)")
    assert find(replace(core, host="0.0.0.0")).environment == {}
    assert find(replace(core, trusted_proxies=1)).environment == {}
    for text, line in (("none", "none, by"), ("own", str(tmp_path / "own"))):
        own = Settings(**read_variables(Settings, {"SCAN_ARTIFACTS": text}))
        variables = find(replace(core, of_extensions={Settings: own}))
        assert variables.environment == {}
        assert variables.line.startswith(f"Builds: {line}")
