// Creates an element from "tag.class", attributes (names with "on" are event listeners) and children.
// Text is inserted as text, never as HTML.
function html(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return complete(element, attributes, children);
}
function svg(tag, attributes = {}, ...children) {
  return complete(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function complete(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") element.style.cssText = value; // an attribute would be refused by a strict content policy
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function addSection(id, title, lead, ...children) {
  const heading = html("h2", {}, title);
  const section = html("section", { id }, heading, lead ? html("p.lead", {}, lead) : null, ...children);
  document.getElementById("main").append(section);
  document.querySelector("nav").append(html("a", { href: `#${id}` }, title));
}

// A legend of [colour, text] entries.
function legend(entries) {
  const items = entries.map(([colour, text]) => html("li", {}, html("i", { style: `background:${colour}` }), text));
  return html("ul.key", {}, ...items);
}
// A list of [name, value] entries.
function definitionList(entries) {
  const items = entries.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, String(value))]);
  return html("dl", {}, ...items);
}

const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
const signed = (value) => {
  const size = Math.abs(value);
  const text = size < 1e-9 ? "0" : size < 0.005 || size >= 100 ? String(+size.toPrecision(3)) : size.toFixed(2);
  return `${value > 1e-9 ? "+" : value < -1e-9 ? "−" : ""}${text}`;
};
const formatP = (p) => (p === null ? "–" : p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, ""));
