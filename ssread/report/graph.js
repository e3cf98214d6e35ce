// A view is "positions", or the number of an output: then the nodes are coloured by their activation for that output.
const firstView = () => (explained.colours.length ? "positions" : target);
const numNodes = (graph) => graph.coordinates.length / 2;

// Draws a graph. focus: a node to circle; neighbourhood: nodes to zoom in on; tooltips: whether nodes have them.
function drawGraph(graph, view, { focus = -1, neighbourhood = [], tooltips = false, label = "" } = {}) {
  const xs = graph.coordinates.filter((_, i) => i % 2 === 0), ys = graph.coordinates.filter((_, i) => i % 2 === 1);
  const near = neighbourhood.length ? new Set(neighbourhood) : null;
  const fade = (...nodes) => (near && !nodes.every((node) => near.has(node)) ? "far" : null);
  const picture = svg("svg", {
    viewBox: viewBox(xs, ys, neighbourhood).join(" "), class: graph.molecule ? "graph" : "graph plain",
    role: "img", "aria-label": label || `graph ${graph.id}`,
  });
  const discs = svg("g"), lines = svg("g"), texts = svg("g", { "pointer-events": "none" });
  for (let bond = 0; bond < graph.bonds.length; bond += 3) {
    const [i, j, order] = graph.bonds.slice(bond, bond + 3);
    const dx = xs[j] - xs[i], dy = ys[j] - ys[i], length = Math.hypot(dx, dy) || 1;
    for (const side of order === 2 ? [-1, 1] : order === 3 ? [-2, 0, 2] : [0]) {
      const ox = (-dy / length) * 8 * side, oy = (dx / length) * 8 * side;
      const ends = { x1: xs[i] + ox, y1: ys[i] + oy, x2: xs[j] + ox, y2: ys[j] + oy };
      lines.append(svg("line", { ...ends, class: fade(i, j) }));
    }
  }
  for (let node = 0; node < numNodes(graph); node++) {
    const centre = { cx: xs[node], cy: ys[node] };
    const disc = svg("circle", { ...centre, ...nodeStyle(graph, node, view), class: fade(node) });
    if (tooltips) disc.append(svg("title", {}, nodeTooltip(graph, node)));
    discs.append(disc);
    if (node === focus) texts.append(svg("circle", { ...centre, r: 50, class: "focus" }));
    const text = graph.labels[node];
    if (text) texts.append(svg("text", { x: xs[node], y: ys[node], class: fade(node) }, text));
  }
  if (graph.molecule) {
    lines.setAttribute("pointer-events", "none");
    picture.append(discs, lines, texts);
  } else picture.append(lines, discs, texts);
  return picture;
}
function viewBox(xs, ys, neighbourhood) {
  if (!xs.length) return [0, 0, 100, 100];
  const zoomed = neighbourhood.length > 0, pad = zoomed ? 90 : 70;
  const inside = (values) => (zoomed ? neighbourhood.map((node) => values[node]) : values);
  const [left, top] = [xs, ys].map((values) => inside(values).reduce((a, b) => Math.min(a, b)));
  const [right, bottom] = [xs, ys].map((values) => inside(values).reduce((a, b) => Math.max(a, b)));
  return [left - pad, top - pad, right - left + 2 * pad, bottom - top + 2 * pad];
}
function nodeStyle(graph, node, view) {
  const size = graph.molecule ? 40 : 30;
  if (view === "positions") {
    const position = graph.positions[node];
    if (position < 0) return { fill: "var(--faint)", "fill-opacity": 0.5, r: size * 0.7 };
    return { fill: explained.colours[position], "fill-opacity": graph.molecule ? 0.75 : 1, r: size };
  }
  const value = graph.activations[view][node] / 100, strength = Math.abs(value);
  const fill = value >= 0 ? "var(--for)" : "var(--against)";
  return { fill, "fill-opacity": 0.12 + 0.88 * strength, r: size * (0.55 + 0.55 * strength) };
}
const nodeName = (graph, node) => `node ${node}${graph.labels[node] ? ` (${graph.labels[node]})` : ""}`;
function nodeTooltip(graph, node) {
  const lines = [nodeName(graph, node)];
  if (graph.positions) {
    const position = graph.positions[node], cost = (graph.costs[node] / 1000).toFixed(3);
    lines.push(position < 0 ? "dropped by pooling" : `position ${position}, cost ${cost}`);
  }
  for (const [output, name] of isClasses ? outputs : [[target, outputName(target)]]) {
    const value = (graph.activations[output][node] / 100) * graph.largest_activation[output];
    lines.push(`activation, ${name}: ${value.toPrecision(2)}`);
  }
  return lines.join("\n");
}
function viewLegend(view) {
  if (view === "positions") return legend(explained.colours.map((colour, k) => [colour, `position ${k}`]));
  const [more, less] = isNumbers ? ["raises", "lowers"] : ["for", "against"];
  return legend([["var(--for)", `${more} ${outputName(view)}`], ["var(--against)", `${less} ${outputName(view)}`]]);
}
