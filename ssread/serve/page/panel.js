"use strict";
const ELEMENTS = ["C", "N", "O", "S", "P", "F", "Cl", "Br", "I", "B", "Si", "Se"];

// One explained molecule: what is predicted, why, and what it is like. compare(smiles) and change(atom, element)
// are called when the reader chooses another molecule.
function panel(explanation, { changed = -1, view, setView, compare, change }) {
  const { prediction, picture, terms } = explanation;
  const title = prediction.smiles ?? prediction.id;
  return html("article.panel", {}, html("h2.smiles", {}, title), headline(prediction), ...outputBars(prediction),
    pictureOf(picture, terms, { changed, view, setView, change }), trust(prediction), nearestOf(explanation, compare));
}

// The names of the columns are those of ssread predict; classes are spelt out on the page only.
const rawNames = (prediction) => Object.keys(prediction).filter((name) => name.startsWith("p("));
function headline(prediction) {
  if (isClasses) {
    const likely = rawNames(prediction).indexOf(`p(${prediction.class})`);
    return html("p.headline", {}, html("strong", {}, outputName(likely)), ` ${percent(prediction[`p(${prediction.class})`], 1)}`);
  }
  if (outputs.length > 1) return null;
  const name = numberName(0), value = prediction[name];
  if (isNumbers) return html("p.headline", {}, html("strong", {}, decimal(value)), ` ${outputName(0)}`);
  return html("p.headline", {}, html("strong", {}, value ? "yes" : "no"), ` ${outputName(0)}`);
}
// As in ssread predict, a column whose name is taken ends in " (predicted)".
const TAKEN = ["id", "smiles", "outside", "problem"];
const columnName = (name, taken) => (taken.includes(name) ? columnName(`${name} (predicted)`, taken) : name);
const numberName = (output) => columnName(outputName(output), TAKEN);
const distanceName = () => columnName("distance", isClasses ? [] : outputs.map(([output]) => numberName(output)));
// A bar for the probability of every class or label; of numbers the value and its interval.
function outputBars(prediction) {
  if (isNumbers) return [intervals(prediction)];
  const bars = rawNames(prediction).flatMap((name, output) => [html("span", {}, outputName(output)),
    html("div.bar", {}, html("b", { style: `left:0;width:${100 * prediction[name]}%;background:var(--accent)` })),
    html("span.value", {}, percent(prediction[name], 1))]);
  return [html("div.bars", {}, ...bars), setSentence(prediction)];
}
function setSentence(prediction) {
  if (!isClasses) return labelSets(prediction);
  if (prediction.set === undefined) return null;
  const names = prediction.set ? prediction.set.split("; ") : [];
  const raw = rawNames(prediction).map((name) => name.slice(2, -1));
  const spelt = names.map((name) => outputName(raw.indexOf(name)) ?? name);
  const rule = `Set that holds the true class in ${percent(COVERAGE)} of cases`;
  return html("p.note", {}, spelt.length ? `${rule}: { ${spelt.join(", ")} }.` : `${rule}: no class is likely enough.`);
}
// Of every label the answers that are likely enough; labels with the same ones stand together.
const ANSWERS = [["1", "yes"], ["0", "no"], ["0; 1", "yes or no"], ["", "neither is likely enough"]];
function labelSets(prediction) {
  const said = ANSWERS.flatMap(([set, text]) => {
    const names = outputs.map(([, name]) => name).filter((name) => prediction[`set(${name})`] === set);
    return names.length ? [`${text} (${names.join(", ")})`] : [];
  });
  return said.length ? html("p.note", {}, `Answers that hold the truth about a label in ${percent(COVERAGE)} of cases: ${said.join("; ")}.`) : null;
}
function intervals(prediction) {
  if (outputs.length === 1) {
    const low = prediction[`low(${outputName(0)})`], high = prediction[`high(${outputName(0)})`];
    if (low === undefined || low === null) return null;
    return html("p.note", {}, `Interval that holds the true number in ${percent(COVERAGE)} of cases: ${decimal(low)} to ${decimal(high)}.`);
  }
  const entries = outputs.map(([output, name]) => {
    const low = prediction[`low(${name})`], high = prediction[`high(${name})`];
    const interval = low === undefined || low === null ? "" : ` (${percent(COVERAGE)}: ${decimal(low)} to ${decimal(high)})`;
    return [name, `${decimal(prediction[numberName(output)])}${interval}`];
  });
  return definitionList(entries);
}

function pictureOf(picture, terms, { changed, view, setView, change }) {
  const tooltip = (node) => nodeTooltip(picture, node);
  const drawing = drawGraph(picture, paintOf(picture, view), { tooltip, focus: changed, label: "structure" });
  const edit = html("div.edit", { hidden: "" });
  if (change) {
    [...drawing.querySelectorAll("circle:not(.focus)")].forEach((disc, atom) => {
      disc.setAttribute("tabindex", "0");
      disc.setAttribute("role", "button");
      disc.setAttribute("aria-label", `change atom ${atom}`);
      const open = () => {
        drawing.querySelector(".chosen")?.classList.remove("chosen");
        disc.classList.add("chosen");
        offerElements(edit, atom, picture.labels[atom] || "C", change);
      };
      disc.addEventListener("click", open);
      disc.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } });
    });
  }
  const hint = change ? html("p.note", {}, "Choose an atom to put another element there.") : null;
  return html("div.picture", {}, html("div.views", {}, ...viewButtons(view, setView)), drawing, edit, hint,
    viewLegend(view), termBars(terms, view));
}
function offerElements(edit, atom, label, change) {
  const buttons = ELEMENTS.map((element) =>
    html("button.button", { type: "button", onclick: () => change(atom, element) }, element));
  edit.replaceChildren(html("span", {}, `Atom ${atom} (${label}) becomes`), ...buttons);
  edit.hidden = false;
  edit.querySelector("button").focus();
}
function viewButtons(view, setView) {
  const named = explained.colours.length ? [["positions", "Positions"]] : [];
  const views = [...named, ...outputs.map(([output, name]) => [output, `Contributions to ${name}`])];
  if (views.length > 5) {
    const options = views.map(([value, text]) => html("option", { value, selected: value === view ? "" : null }, text));
    const onchange = (event) => setView(event.target.value === "positions" ? "positions" : Number(event.target.value));
    return [html("select", { "aria-label": "colour", onchange }, ...options)];
  }
  return views.map(([value, text]) => html("button.button",
    { type: "button", "aria-pressed": String(value === view), onclick: () => setView(value) }, text));
}
function viewLegend(view) {
  if (view === "positions") return legend(explained.colours.map((colour, k) => [colour, explained.positions[k]]));
  const [more, less] = isNumbers ? ["raises", "lowers"] : ["for", "against"];
  return legend([["var(--for)", `${more} ${outputName(view)}`], ["var(--against)", `${less} ${outputName(view)}`]]);
}
// The colour of every node, by its position or by what it adds to an output.
function paintOf(picture, view) {
  if (view === "positions") {
    return (node) => {
      const sure = picture.certainty ? picture.certainty[node] / 100 : 1;
      return picture.positions[node] < 0 ? null
        : { colour: explained.colours[picture.positions[node]], strength: (picture.molecule ? 0.55 : 1) * (0.55 + 0.45 * sure) };
    };
  }
  return (node) => {
    const value = picture.activations[view][node] / 1000, strength = Math.abs(value);
    if (picture.molecule && strength < 0.03) return null;
    return { colour: value >= 0 ? "var(--for)" : "var(--against)", strength: 0.08 + 0.72 * strength, size: 0.55 + 0.55 * strength };
  };
}
function nodeTooltip(picture, node) {
  const lines = [`${picture.molecule ? "atom" : "node"} ${node} (${picture.labels[node] || (picture.molecule ? "C" : "")})`];
  if (picture.positions) lines.push(explained.positions[picture.positions[node]] ?? "dropped by pooling");
  if (picture.certainty) lines.push(`${picture.certainty[node]} % of the members agree`);
  for (const [output, name] of outputs.slice(0, 6)) {
    lines.push(`adds ${signed((picture.activations[output][node] / 1000) * picture.largest_activation[output])} to ${name}`);
  }
  return lines.join("\n");
}

// The terms that add up to the score of an output, as bars from the middle.
function termBars(terms, view) {
  if (view === "positions") return null;
  const scores = terms.scores[view], largest = Math.max(...scores.map(Math.abs), 1e-9);
  const rows = scores.flatMap((term, k) => {
    const width = 50 * Math.abs(term) / largest, left = term < 0 ? 50 - width : 50;
    const style = `left:${left}%;width:${width}%;background:var(${term < 0 ? "--against" : "--for"})`;
    return [html("span", {}, terms.names[k]),
      html("div.bar", {}, html("b", { style }), html("s", { style: "left:calc(50% - 1px);opacity:.35" })), html("span.value", {}, signed(term))];
  });
  const what = isNumbers ? outputName(view) : `the score of ${outputName(view)}`;
  return html("div", {}, html("h3", {}, `What adds up to ${what}`), html("div.bars", {}, ...rows));
}

// How far a prediction can be trusted, in sentences.
function trust(prediction) {
  const said = [];
  const times = prediction[distanceName()];
  if (times !== undefined && times !== null) {
    const text = `${times.toFixed(1)} times the usual distance between training molecules`;
    said.push(times < 0.05 ? "This is one of the training molecules, or the model cannot tell it from one."
      : times < 2 ? `Like the training molecules: ${text}.` : `Unlike the training molecules (${text}): trust it less.`);
  }
  const spread = prediction.spread ?? (outputs.length === 1 ? prediction[`spread(${outputName(0)})`] : undefined);
  if (spread !== undefined) said.push(`Members of the model differ by ${isNumbers ? decimal(spread) : percent(spread, 1)} (standard deviation).`);
  if (prediction.outside) said.push(`It is larger than every training molecule: ${prediction.outside}.`);
  return said.length ? html("ul.trust", {}, ...said.map((text) => html("li", {}, text))) : null;
}

function nearestOf(explanation, compare) {
  const { nearest } = explanation;
  if (!nearest.length) return null;
  const known = nearest.filter((example) => example.smiles);
  const list = html("ul.nearest", {});
  for (const example of nearest) {
    const caption = [html("strong", {}, knownOf(example)), html("span", {}, `${example.distance.toFixed(1)} away`)];
    const open = () => compare(example.smiles);
    const title = `${example.id}: ${example.smiles}. ${example.known || "Label unknown"}. Click to compare.`;
    list.append(html("li", {}, html("button.thumb", { type: "button", title, disabled: example.smiles ? null : "", onclick: open },
      html("div.place", {}), html("span.line", {}, ...caption))));
  }
  if (known.length) drawNearest(list, known, explanation);
  return html("div", {}, html("h3", {}, "Nearest training molecules"), list);
}
// What a training molecule is labelled with; of many labels those that it has.
function knownOf({ known }) {
  if (!known || isClasses || isNumbers || outputs.length === 1) return known || "unknown";
  const has = outputs.map(([, name]) => name).filter((name) => `, ${known},`.includes(`, ${name} 1,`));
  return has.length ? has.join(", ") : "none of the labels";
}
// The pictures come with a request of their own, so that the prediction does not wait for them; one is enough for all
// views of an explanation.
async function drawNearest(list, examples, explanation) {
  const model = explained.name;
  explanation.pictures ??= askModel("explain", { smiles: examples.map((example) => example.smiles) });
  try {
    const { rows } = await explanation.pictures;
    if (model !== explained.name) return;
    [...list.querySelectorAll(".place")].forEach((place, number) => {
      const picture = rows[number]?.picture;
      if (picture) place.replaceChildren(drawGraph(picture, paintOf(picture, firstView()), { label: examples[number].smiles }));
    });
  } catch {
    delete explanation.pictures; // the captions stay
  }
}
