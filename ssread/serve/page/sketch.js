"use strict";
// Drawing a molecule with OpenChemLib's editor, which is loaded when it is first wanted.
let sketcher = null;

async function openSketch() {
  byId("sketch").showModal();
  try {
    const { CanvasEditor, Molecule } = await import("/static/openchemlib.js");
    sketcher ??= new CanvasEditor(byId("sketcher"), { initialMode: "molecule" });
    let molecule = new Molecule(16, 16);
    try {
      molecule = Molecule.fromSmiles(byId("smiles").value.trim());
    } catch { /* not a SMILES that it knows: an empty field to draw in */ }
    sketcher.setMolecule(molecule);
  } catch (error) {
    byId("sketch").close();
    say(`The field to draw in cannot be shown: ${error.message}`);
  }
}
function useSketch() {
  const molecule = sketcher?.getMolecule();
  byId("sketch").close();
  if (!molecule?.getAllAtoms()) return say("Nothing was drawn.");
  return showSmiles(molecule.toIsomericSmiles());
}

byId("draw").addEventListener("click", openSketch);
byId("sketch-use").addEventListener("click", useSketch);
byId("sketch-cancel").addEventListener("click", () => byId("sketch").close());
