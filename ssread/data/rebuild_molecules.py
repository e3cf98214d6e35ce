"""RDKit molecules from graphs, parsed from their SMILES or rebuilt from the labels of atoms and bonds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssread.errors import missing_extra

if TYPE_CHECKING:
    from rdkit.Chem import Mol

    from ssread.data.graphset import GraphSet

__all__ = ["are_molecules", "molecules"]

_SYMBOLS = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo
    Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl
    Pb Bi Po At Rn Fr Ra Ac Th Pa U
"""
ELEMENTS = frozenset(_SYMBOLS.split())

BONDS = ("single", "double", "triple", "aromatic")

#: Elements that form the ions of a salt, with their charges.
IONS = {"Li": 1, "Na": 1, "K": 1, "Ca": 2, "F": -1, "Cl": -1, "Br": -1, "I": -1}


def are_molecules(graphs: GraphSet) -> bool:
    """Whether the graphs are molecules: they have SMILES, or features named after elements and bond types."""
    if "smiles" in graphs.graph_texts:
        return True
    nodes, edges = graphs.node_feature_names, graphs.edge_feature_names
    return bool(nodes) and bool(edges) and set(edges) <= set(BONDS) and set(nodes) <= ELEMENTS


def molecules(graphs: GraphSet) -> list[Mol | None]:
    """Returns an RDKit molecule per graph with its atoms in the order of the nodes; ``None`` where RDKit rejects it.

    Labels alone (MUTAG, Mutagenicity) contain no charges, so the charges that the bonds imply are added (nitro groups,
    ammonium, the ions of salts). If no atom of the dataset is a hydrogen, hydrogens are implicit.
    """
    try:
        from rdkit import Chem, RDLogger
    except ImportError:
        raise missing_extra("RDKit", "molecules", "Turning graphs into molecules") from None
    if not are_molecules(graphs):
        return [None] * len(graphs)
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    try:
        if "smiles" in graphs.graph_texts:
            counts = graphs.node_counts.tolist()
            return [_parse(text, n) for text, n in zip(graphs.graph_texts["smiles"], counts, strict=True)]
        kinds = {name: getattr(Chem.BondType, name.upper()) for name in BONDS}
        symbols = [graphs.node_feature_names[column] for column in graphs.x.argmax(dim=1).tolist()]
        assert graphs.edge_attr is not None
        orders = [kinds[graphs.edge_feature_names[column]] for column in graphs.edge_attr.argmax(dim=1).tolist()]
        source, target = graphs.edge_index.tolist()
        node_ptr, edge_ptr = graphs.node_ptr.tolist(), graphs.edge_ptr.tolist()
        implicit = "H" not in graphs.node_feature_names
        rebuilt = []
        for graph in range(len(graphs)):
            edges = slice(edge_ptr[graph], edge_ptr[graph + 1])
            bonds = zip(source[edges], target[edges], orders[edges], strict=True)
            atoms = symbols[node_ptr[graph] : node_ptr[graph + 1]]
            rebuilt.append(_rebuild(atoms, [bond for bond in bonds if bond[0] < bond[1]], implicit))
        return rebuilt
    finally:
        RDLogger.EnableLog("rdApp.*")  # type: ignore[attr-defined]


def _parse(smiles: str, num_nodes: int) -> Mol | None:
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles)
    if molecule is not None and molecule.GetNumAtoms() != num_nodes:
        molecule = Chem.AddHs(molecule)
    return molecule if molecule is not None and molecule.GetNumAtoms() == num_nodes else None


def _rebuild(symbols: list[str], bonds: list[tuple[int, int, Any]], implicit: bool) -> Mol | None:
    from rdkit import Chem

    molecule = Chem.RWMol()
    for symbol in symbols:
        atom = Chem.Atom(symbol)
        atom.SetNoImplicit(not implicit)
        molecule.AddAtom(atom)
    for source, target, kind in bonds:
        molecule.AddBond(source, target, kind)
        if kind == Chem.BondType.AROMATIC:
            for end in (source, target):
                molecule.GetAtomWithIdx(end).SetIsAromatic(True)
    for atom in molecule.GetAtoms():
        _set_charge(atom, implicit)
    try:
        Chem.SanitizeMol(molecule)
    except Exception:  # RDKit's exceptions share no base class; each means that the molecule is not valid
        return None
    return molecule.GetMol()


def _set_charge(atom: Any, implicit: bool) -> None:
    """Sets the charge that an atom's bonds imply."""
    symbol = atom.GetSymbol()
    valence = sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds())
    if atom.GetDegree() == 0 and symbol in IONS:
        atom.SetFormalCharge(IONS[symbol])
        atom.SetNoImplicit(True)
    elif symbol == "N" and valence == 4:
        atom.SetFormalCharge(1)
        singly = [b.GetOtherAtom(atom) for b in atom.GetBonds() if b.GetBondTypeAsDouble() == 1]
        terminal = [other for other in singly if other.GetSymbol() == "O" and other.GetDegree() == 1]
        if terminal and all(other.GetFormalCharge() == 0 for other in terminal):
            terminal[0].SetFormalCharge(-1)
    elif not implicit and symbol in ("O", "S") and valence == 1:
        atom.SetFormalCharge(-1)
    elif not implicit and symbol == "O" and valence == 3:
        atom.SetFormalCharge(1)
