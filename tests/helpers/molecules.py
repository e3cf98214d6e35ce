"""SMILES of molecules that between them have every kind of atom and bond."""

MOLECULES = [
    "CCO",
    "c1ccccc1",
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[C@H](N)C(=O)O",
    "C[C@@H](N)C(=O)O",
    "F/C=C/F",
    "F/C=C\\F",
    "[Na+].[Cl-]",
    "[He]",
    "C#N",
    "CS(=O)(=O)N",
    "C[Si](C)(C)C",
    "N->[Cu]",
    "*CC",
    "[2H]O[2H]",
    "OP(=O)(O)O",
    "[H][H]",
    "C[N+](=O)[O-]",
    "FS(F)(F)(F)(F)F",
]
