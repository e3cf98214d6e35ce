// How graphs are coloured. A view is "positions", or the number of an output: then the colours show what nodes add to it.
const hasPositions = Boolean(explained?.levels.length);
const firstView = () => (hasPositions ? "positions" : target);

// The level at which positions are looked at: 0 for all of them, further ones for groups of the most similar.
let level = 0;
const levelListeners = [];
function setLevel(chosen) {
  level = chosen;
  levelListeners.forEach((listener) => listener());
}
const cards = () => (hasPositions ? explained.levels[level].cards : []);
const colourOf = (group) => explained.levels[level].colours[group];
const groupOf = (position) => explained.levels[level].groups[position];
const nameOf = (graph, node) => (graph.positions[node] < 0 ? "dropped by pooling" : cards()[groupOf(graph.positions[node])].name);

const contribution = (graph, node, output) =>
  (graph.activations[output][node] / 1000) * graph.largest_activation[output];

function paintOf(graph, view) {
  if (view === "positions") {
    return (node) => {
      const position = graph.positions[node];
      if (position < 0) return null;
      const sure = graph.certainty ? graph.certainty[node] / 100 : 1;
      return { colour: colourOf(groupOf(position)), strength: (graph.molecule ? 0.55 : 1) * (0.55 + 0.45 * sure) };
    };
  }
  return (node) => {
    const value = graph.activations[view][node] / 1000, strength = Math.abs(value);
    if (graph.molecule && strength < 0.03) return null;
    return { colour: value >= 0 ? "var(--for)" : "var(--against)", strength: 0.08 + 0.72 * strength,
      size: 0.55 + 0.55 * strength };
  };
}
function picture(graph, view, options = {}) {
  return drawGraph(graph, paintOf(graph, view), options);
}
const nodeName = (graph, node) => `${graph.molecule ? "atom" : "node"} ${node}${graph.labels[node] || graph.molecule
  ? ` (${graph.labels[node] || "C"})` : ""}`;
function nodeTooltip(graph, node) {
  const lines = [nodeName(graph, node)];
  if (graph.positions) {
    lines.push(nameOf(graph, node));
    if (graph.positions[node] >= 0) lines.push(`cost ${(graph.costs[node] / 1000).toFixed(3)}`);
    if (graph.certainty) lines.push(`${graph.certainty[node]} % of the members agree`);
  }
  for (const [output, name] of isClasses ? outputs : [[target, outputName(target)]]) {
    lines.push(`${signed(contribution(graph, node, output))} to ${name}`);
  }
  return lines.join("\n");
}
function viewLegend(view) {
  if (view === "positions") return legend(cards().map((card, k) => [colourOf(k), card.name]));
  const [more, less] = isNumbers ? ["raises", "lowers"] : ["for", "against"];
  return legend([["var(--for)", `${more} ${outputName(view)}`], ["var(--against)", `${less} ${outputName(view)}`]]);
}
// The views as [value, text] entries for a menu or buttons, and a view from the value of a menu.
function viewNames() {
  const contributions = outputs.map(([output, name]) => [output, isNumbers ? `What raises ${name}` : `For and against ${name}`]);
  return hasPositions ? [["positions", "Positions"], ...contributions] : contributions;
}
const viewOf = (value) => (value === "positions" ? value : +value);
// The terms of a score as [name, value, colour], which add up to it; positions of a group are added up.
function termsOf(graph, output) {
  const terms = graph.terms[output], named = hasPositions ? explained.levels[0].groups.length : 0;
  const groups = cards().map((card, k) => [card.name, 0, colourOf(k)]);
  for (let position = 0; position < named; position++) groups[groupOf(position)][1] += terms[position];
  return [...groups, ...explained.term_names.map((name, i) => [name, terms[named + i], null])];
}
// What contributions are, in sentences.
function contributionText() {
  const [unit, whole] = isNumbers ? [`in the unit of ${outputName(target)}`, "its prediction"]
    : ["in units of the score before the " + (isClasses ? "softmax" : "sigmoid"), "its score"];
  const held = explained.held_fixed.length ? `, with ${explained.held_fixed.join(" and ")} held fixed,` : "";
  const rest = explained.same_rest[slot()];
  const beside = explained.left_over.length ? ` ${explained.left_over.join(", ")} belongs to no single node.` : "";
  return `Contributions are ${unit}. Those of a graph and the rest`
    + `${isNumbers && rest !== undefined ? ` (${number(rest)}, the same for every graph)` : ""} add up${held} to ${whole}.${beside} `;
}
