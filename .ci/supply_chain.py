"""What we depend on: known vulnerabilities, licences, a bill of materials. Run in the environment that make sets up.

python .ci/supply_chain.py audit       known vulnerabilities of all installed packages, by pip-audit
python .ci/supply_chain.py licences    every installed package has a licence that ours may depend on
python .ci/supply_chain.py sbom FILE   a CycloneDX bill of materials of what an installed ssread needs, with its extras
"""

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

#: Licences that an MIT package may depend on, as packages spell them.
NAMES = "MIT|0?BSD|Apache|PSFL?|Python Software Foundation|MPL|Mozilla|ISCL?|Zlib|CC0|Unlicense|HPND|BSL|Public Domain"
ALLOWED = re.compile(rf"\b({NAMES})\b", re.IGNORECASE)
#: Findings of pip-audit that were looked at and do not concern us: the id, and why.
ACCEPTED: dict[str, str] = {}


def audit() -> int:
    """Runs pip-audit on what is installed; only a finding fails. Without a database it says so."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        reason = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        print(f"No database of vulnerabilities could be asked ({reason[:200]}): nothing was audited.")
        return 0
    return judge(packages)


def judge(packages: list[dict]) -> int:
    """Prints the findings among what pip-audit reported; returns 1 if there is one that was not accepted."""
    asked = [package for package in packages if "vulns" in package]
    found = [(package, finding) for package in asked for finding in package["vulns"]]
    for package, finding in found:
        accepted = ACCEPTED.get(finding["id"])
        fixed = ", ".join(finding.get("fix_versions", [])) or "no version"
        remark = f"accepted: {accepted}" if accepted else f"fixed in {fixed}"
        print(f"{package['name']} {package['version']}: {finding['id']} ({remark})")
    if not asked:
        print(f"The database of vulnerabilities knows none of the {len(packages)} packages: nothing was audited.")
    else:
        print(f"{len(asked)} of {len(packages)} packages audited, {len(found)} findings.")
    return int(any(finding["id"] not in ACCEPTED for _, finding in found))


def licences() -> int:
    """Prints the packages whose licence is unknown or may not be depended on; returns 1 if there are any."""
    stated = {package.metadata["Name"]: licence_of(package) for package in distributions()}
    wrong = {name: licence for name, licence in stated.items() if not ALLOWED.search(licence)}
    for name, licence in sorted(wrong.items()):
        print(f"{name}: {licence or 'states no licence'}")
    print(
        f"{len(stated)} packages, {len(wrong)} with a licence that was not allowed for (.ci/supply_chain.py, ALLOWED)."
    )
    return int(bool(wrong))


def licence_of(package: Distribution) -> str:
    """What a package says about its licence: the expression, its classifiers, or the first line of the text."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return expression
    classifiers = [line.split("::")[-1].strip() for line in about.get_all("Classifier") or [] if "License ::" in line]
    first_line = (about.get("License") or "").strip().split("\n")[0]
    return "; ".join([*classifiers, first_line]).strip("; ")


#: Scripts of others that the package ships.
SHIPPED = [
    {
        "type": "library",
        "name": "openchemlib",
        "version": "9.25.0",
        "purl": "pkg:npm/openchemlib@9.25.0",
        "licenses": [{"license": {"name": "BSD-3-Clause"}}],
    }
]


def sbom(path: Path) -> int:
    """Writes the packages that an installed ssread needs, directly or not, as CycloneDX JSON."""
    components = [
        {
            "type": "library",
            "name": package.metadata["Name"],
            "version": package.version,
            "purl": f"pkg:pypi/{_normal(package.metadata['Name'])}@{package.version}",
            "licenses": [{"license": {"name": licence_of(package)}}],
        }
        for package in needed("ssread")
    ]
    own, *others = components
    others += SHIPPED
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**own, "type": "application"}},
        "components": sorted(others, key=lambda component: component["name"].lower()),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"Wrote {path}: {len(others)} packages.")
    return 0


def needed(name: str) -> list[Distribution]:
    """A package and all installed ones that it needs, with its own extras but those of developers."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        key = _normal(waiting.pop())
        if key in found:
            continue
        try:
            found[key] = distribution(key)
        except PackageNotFoundError:  # for another system or Python
            continue
        extras = {line: re.findall(r"extra == ['\"]([\w-]+)", line) for line in found[key].requires or []}
        lines = [line for line, of in extras.items() if not of or (key == name and not {"dev", "docs"} & {*of})]
        waiting += [re.match(r"[\w.-]+", line).group() for line in lines]
    return list(found.values())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    jobs = {"audit": audit, "licences": licences, "sbom": lambda: sbom(Path(sys.argv[2]))}
    sys.exit(jobs[sys.argv[1]]())
