function addPositions() {
  if (!hasPositions) return;
  const hops = explained.position_hops;
  const source = hops === null
    ? "The model aligns every node with the closest of K prototypes, which it learnt without being told what they mean."
    : "Nodes with like surroundings "
      + (hops === 0 ? "(their own features) " : `(features within ${hops} ${hops === 1 ? "hop" : "hops"}) `)
      + "share a position; nobody said what they mean, and other trainings find nearly the same.";
  const lead = source + " A position is named after what is over-represented among its nodes. Bars show how many nodes "
    + "of a position have a property, ticks how many of all other nodes have it. "
    + (explained.stored_meanings
      ? "Names, properties and contributions were measured on the training set; shares and typical nodes are of these graphs."
      : "All of this was measured on these graphs.");
  const grid = html("div.cards", { "aria-live": "polite" });
  const show = () => grid.replaceChildren(...cards().map(positionCard));
  levelListeners.push(show);
  show();
  addSection("positions", "What the positions mean", lead, levelControl(), grid);
}
// Merges the most similar positions, one pair at a time, and splits them again.
function levelControl() {
  const most = explained.levels[0].groups.length;
  if (explained.levels.length < 2) return null;
  const text = html("output", { for: "level" });
  const oninput = (event) => setLevel(most - +event.target.value);
  const range = html("input", { type: "range", id: "level", min: most - explained.levels.length + 1, max: most, step: 1,
    value: most, "aria-label": "number of groups of positions", oninput });
  const show = () => {
    range.value = most - level;
    const merged = level ? `${most - level} groups of the ${most} positions` : `all ${most} positions`;
    text.textContent = merged;
    range.setAttribute("aria-valuetext", merged);
  };
  levelListeners.push(show);
  show();
  return html("div.level", {}, html("label", { for: "level" }, "Merge similar positions"), range, text);
}
function positionCard(card, k) {
  const colour = colourOf(k), members = explained.levels[level].groups.flatMap((group, position) => (group === k ? [position] : []));
  const article = html("article.card", {}, html("header", {}, html("i.swatch", { style: `background:${colour}` }),
    html("h3", {}, card.name)));
  const numbers = members.length > 1 ? `Positions ${members.join(", ")}: ` : card.name === `position ${members[0]}` ? "" : `Position ${members[0]}: `;
  if (card.exemplars.length) {
    article.append(html("p.gist", {}, `${numbers}${percent(card.share)} of nodes, in ${percent(card.graph_share)} of graphs`));
    const typical = card.exemplars.map((exemplar) => exemplarButton(exemplar, card));
    article.append(html("h4", {}, "Typical nodes"), html("div.exemplars", {}, ...typical));
  } else {
    article.append(html("p.note", {}, "No node of these graphs is aligned with this position."));
    if (!explained.stored_meanings) return article;
  }
  article.append(html("h4", {}, "Over-represented"), card.traits.length
    ? html("div.bars", {}, ...card.traits.flatMap((trait) => traitBar(trait, colour)))
    : html("p.note", {}, "No property is over-represented."));
  const scores = card.activations.flatMap((score, output) => [html("span", {}, outputName(output)),
    signedBar(score / largestMean(output)), html("span.value", {}, signed(score))]);
  article.append(html("h4", {}, isNumbers ? "A node adds" : "A node adds to the score of"), html("div.bars", {}, ...scores));
  return article;
}
function exemplarButton({ graph, node, num_alike, neighbourhood }, card) {
  const record = explained.graphs[graph];
  const label = `typical node of ${card.name}, in graph ${record.id}`;
  const title = `graph ${record.id}: ${num_alike} ${num_alike === 1 ? "node has" : "nodes have"} this vector`;
  return html("button", { type: "button", title, "aria-label": label, onclick: () => openGraph(record, [record]) },
    picture(record, "positions", { focus: node, neighbourhood }));
}
function traitBar({ fact, inside, outside, effect, p }, colour) {
  const shares = `${percent(inside)} here, ${percent(outside)} elsewhere`;
  const title = `${shares}; Cohen's h ${effect.toFixed(2)}, p ${formatP(p)}`;
  const bar = html("div.bar", { title }, html("b", { style: `left:0;width:${100 * inside}%;background:${colour}` }),
    html("s", { style: `left:calc(${100 * outside}% - 1px)` }));
  return [html("span", {}, fact), bar, html("span.value", {}, percent(inside))];
}
// The largest mean contribution of all positions: numbers have units of their own, scores compare.
function largestMean(output) {
  const of = (card) => (isNumbers ? [card.activations[output]] : card.activations);
  return Math.max(...cards().flatMap((card) => of(card).map(Math.abs)), 1e-9);
}
// A bar from the middle to the right for values up to 1, to the left for values down to -1.
function signedBar(value) {
  const width = 50 * Math.min(Math.abs(value), 1), left = value < 0 ? 50 - width : 50;
  const style = `left:${left}%;width:${width}%;background:var(${value < 0 ? "--against" : "--for"})`;
  return html("div.bar", {}, html("b", { style }), html("s", { style: "left:calc(50% - 1px);opacity:.35" }));
}
