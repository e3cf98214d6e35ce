"use strict";
let models = [], shown = [], view = "positions", turn = 0;

// Does something that takes time; a sentence says what went wrong.
async function working(action) {
  const mine = ++turn;
  byId("busy").hidden = false;
  byId("message").hidden = true;
  try {
    await action(() => mine === turn);
  } catch (error) {
    if (mine === turn) say(error.message);
  } finally {
    if (mine === turn) byId("busy").hidden = true;
  }
}
function say(sentence) {
  byId("message").textContent = sentence;
  byId("message").hidden = false;
}

// Shows one explanation, or two side by side with what differs. changed: the atom of the second one that was changed.
function showPanels(explanations, { changed = -1 } = {}) {
  shown = explanations;
  const unusable = explanations.find(({ prediction }) => prediction.problem !== null);
  if (unusable) throw new Error(`${unusable.prediction.smiles ?? unusable.prediction.id}: ${unusable.prediction.problem}.`);
  const render = () => {
    byId("panels").replaceChildren(...explanations.map((explanation, number) => panel(explanation, {
      view, setView: (value) => { view = value; render(); },
      changed: number ? changed : -1, compare: compareWith,
      change: explanation.prediction.smiles ? (atom, element) => changeAtom(explanation, atom, element) : null,
    })));
    byId("panels").classList.toggle("two", explanations.length > 1);
  };
  render();
  byId("difference").hidden = explanations.length < 2;
  if (explanations.length > 1) byId("difference").textContent = differenceText(...explanations.map(({ prediction }) => prediction));
}
function differenceText(first, second) {
  const names = isNumbers ? outputs.map(([output]) => numberName(output)) : rawNames(first);
  const text = isNumbers ? decimal : (value) => percent(value, 1);
  const moved = names.map((name, output) => ({ name: outputName(output), from: first[name], to: second[name] }))
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from)).slice(0, 3);
  return moved.map(({ name, from, to }) => `${name}: ${text(from)} \u2192 ${text(to)}`).join("; ");
}

async function showMolecules() {
  const texts = [byId("smiles").value.trim(), byId("other").value.trim()].filter((text) => text);
  if (!texts.length) return say("Type or paste a SMILES first, such as CCO.");
  await working(async (current) => {
    clearPanels();
    const { rows } = await askModel("explain", withCoverage({ smiles: texts }));
    if (current()) showPanels(rows);
  });
}
function showSmiles(smiles) {
  byId("smiles").value = smiles;
  openComparison(false);
  byId("ask").scrollIntoView();
  return showMolecules();
}
function compareWith(smiles) {
  openComparison();
  byId("other").value = smiles;
  byId("ask").scrollIntoView();
  return showMolecules();
}
function openComparison(open = true) {
  byId("other-label").hidden = !open;
  byId("compare").setAttribute("aria-expanded", String(open));
  if (!open) byId("other").value = "";
}
async function changeAtom(explanation, atom, element) {
  await working(async (current) => {
    const found = await askModel("change", withCoverage({ smiles: explanation.prediction.smiles, atom, element }));
    if (!current()) return;
    openComparison();
    byId("smiles").value = found.before.prediction.smiles;
    byId("other").value = found.after.prediction.smiles;
    showPanels([found.before, found.after], { changed: found.atom });
  });
}

function clearPanels() {
  byId("panels").replaceChildren();
  byId("difference").hidden = true;
}
// What can be done here, until something is shown.
const EXAMPLE = "O=[N+]([O-])c1ccccc1";
function showHint() {
  const example = html("button.link", { type: "button", onclick: () => showSmiles(EXAMPLE) }, "Show an example");
  const hint = takesSmiles()
    ? ["Type or paste a SMILES, draw a molecule, or drop a file of molecules on this page: CSV, TSV, SMI, SDF or Parquet. ", example]
    : explained.molecules
      ? [`Drop a file of molecules on this page, or choose one: CSV, TSV, SDF or Parquet. Beside SMILES it needs ${neededColumns()}, with which the model was trained.`]
      : ["Drop a graph on this page, or choose a file: GraphML or node-link JSON."];
  byId("panels").replaceChildren(html("p.hint", {}, ...hint));
}
function neededColumns() {
  return `the column${explained.columns.length > 1 ? "s" : ""} ${explained.columns.map((name) => `“${name}”`).join(", ")}`;
}
function chooseModel(name) {
  turn++; // what was asked of another model is not shown
  byId("busy").hidden = byId("message").hidden = true;
  useModel(models.find((model) => model.name === name));
  view = firstView();
  clearPanels();
  showHint();
  byId("rows").hidden = true;
  const what = isClasses ? "a class" : isNumbers ? "numbers" : "labels";
  const names = explained.output_names.slice(0, 12).join(isClasses ? " or " : ", ");
  const trained = explained.trained_on ? ` It was trained on ${explained.trained_on}.` : "";
  byId("about").textContent = `The model ${explained.name} predicts ${what}: ${names}.${trained}`;
  // The card is Markdown that the server turned into HTML; text from data is escaped there.
  byId("card-text").replaceChildren(...new DOMParser().parseFromString(explained.card, "text/html").body.childNodes);
  byId("card").hidden = !explained.card;
  byId("smiles").closest("label").hidden = byId("compare").hidden = byId("draw").hidden = !takesSmiles();
  if (!takesSmiles()) openComparison(false);
}

byId("ask").addEventListener("submit", (event) => { event.preventDefault(); showMolecules(); });
byId("compare").addEventListener("click", () => {
  const open = byId("other-label").hidden;
  openComparison(open);
  if (open) byId("other").focus();
  else if (shown.length > 1 && byId("panels").classList.contains("two")) showPanels(shown.slice(0, 1));
});
byId("model").addEventListener("change", () => {
  chooseModel(byId("model").value);
  if (byId("smiles").value.trim() && takesSmiles()) showMolecules();
});
byId("interface").addEventListener("click", (event) => {
  if (!sessionStorage.getItem("token")) return;
  event.preventDefault(); // a link sends no token
  ask("/api/openapi.json").then((schema) => saveFile("openapi.json", JSON.stringify(schema, null, 1), "application/json"), (error) => say(error.message));
});
working(async () => {
  models = await ask("/api/models");
  byId("model").append(...models.map(({ name }) => html("option", { value: name }, name)));
  byId("model-choice").hidden = models.length < 2;
  chooseModel(models[0].name);
});
