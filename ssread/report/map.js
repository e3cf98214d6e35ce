function addMap() {
  if (!explained || !explained.map.graph.length) return;
  const { graph: graphs } = explained.map;
  const place = html("div.map");
  const show = () => place.replaceChildren(...mapOfNodes());
  levelListeners.push(show);
  show();
  const lead = `t-SNE of the vectors of ${graphs.length.toLocaleString("en")} nodes by cosine distance`
    + `${hasPositions ? "; diamonds are the prototypes" : ""}. `
    + "Nodes that are close have similar vectors; distances between groups mean little.";
  addSection("map", "Map of nodes", lead, place);
}
function mapOfNodes() {
  const { coordinates, prototypes, graph: graphs, node: nodes } = explained.map;
  const xs = [...coordinates, ...prototypes].filter((_, i) => i % 2 === 0);
  const ys = [...coordinates, ...prototypes].filter((_, i) => i % 2 === 1);
  const left = Math.min(...xs), top = Math.min(...ys), width = Math.max(...xs) - left, height = Math.max(...ys) - top;
  const size = Math.max(width, height, 1), pad = size * 0.04, radius = size / 170;
  const plane = svg("svg", {
    viewBox: `${left - pad} ${top - pad} ${width + 2 * pad} ${height + 2 * pad}`, role: "img",
    "aria-label": "t-SNE map of node vectors",
  });
  const layers = new Map(); // by group of positions, so that each can be hidden; -1 for nodes without one
  graphs.forEach((g, i) => {
    const position = explained.graphs[g].positions?.[nodes[i]] ?? -1, k = position < 0 ? -1 : groupOf(position);
    if (!layers.has(k)) layers.set(k, svg("g"));
    const fill = k < 0 ? "var(--accent)" : colourOf(k), centre = { cx: coordinates[2 * i], cy: coordinates[2 * i + 1] };
    layers.get(k).append(svg("circle", { ...centre, r: radius, fill, "fill-opacity": 0.8, "data-i": i }));
  });
  plane.append(...layers.values());
  for (let position = 0; position < prototypes.length / 2; position++) {
    const x = prototypes[2 * position], y = prototypes[2 * position + 1], arm = 3.2 * radius, k = groupOf(position);
    const d = `M${x - arm},${y} L${x},${y - arm} L${x + arm},${y} L${x},${y + arm} Z`;
    const diamond = svg("path", { d, fill: colourOf(k), stroke: "var(--ink)", "stroke-width": radius / 2 });
    diamond.append(svg("title", {}, `prototype of position ${position}: ${cards()[k].name}`));
    plane.append(diamond);
  }
  addMapEvents(plane);
  const toggle = (k) => html("button.button", { type: "button", "aria-pressed": "true",
    onclick: (event) => {
      const layer = layers.get(k), hide = layer.style.display !== "none";
      layer.style.display = hide ? "none" : "";
      event.currentTarget.setAttribute("aria-pressed", String(!hide));
    } }, html("i.swatch", { style: `background:${colourOf(k)}` }), cards()[k].name);
  const toggles = hasPositions ? [...layers.keys()].filter((k) => k >= 0).sort((a, b) => a - b).map(toggle) : [];
  const hint = html("p.note", {}, "Hover over a dot to see its graph; click it to open the graph.");
  return [plane, html("aside", {}, hint, ...toggles)];
}
function addMapEvents(plane) {
  const tip = document.getElementById("tip");
  const dotOf = (event) => event.target.dataset?.i;
  const graphOf = (dot) => explained.graphs[explained.map.graph[dot]];
  plane.addEventListener("pointermove", (event) => {
    const dot = dotOf(event);
    if (dot === undefined) { tip.hidden = true; return; }
    if (tip.dataset.i !== dot || tip.hidden) {
      const graph = graphOf(dot), node = explained.map.node[dot];
      const position = graph.positions ? `, ${nameOf(graph, node)}` : "";
      tip.replaceChildren(picture(graph, firstView(), { focus: node }),
        html("div", {}, `graph ${graph.id}, ${nodeName(graph, node)}${position}`));
      tip.dataset.i = dot;
      tip.hidden = false;
    }
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  });
  plane.addEventListener("pointerleave", () => { tip.hidden = true; });
  plane.addEventListener("click", (event) => {
    const dot = dotOf(event);
    if (dot === undefined) return;
    tip.hidden = true;
    openGraph(graphOf(dot), explained.graphs);
  });
}
