"use strict";
// The model that is looked at; it changes when another one is chosen.
let explained = { colours: [], output_names: [], task: "", positions: [], columns: [] };
let isClasses = false, isNumbers = false, outputs = [];
const outputName = (output) => explained.output_names[output];
// A view is "positions", or the number of an output: then the nodes are coloured by what they add to it.
const firstView = () => (explained.colours.length ? "positions" : 0);
// Whether SMILES are enough; a model that was trained with columns of a file needs these too.
const takesSmiles = () => explained.molecules && !explained.columns.length;
const byId = (id) => document.getElementById(id);
const MINUS = "\u2212";
const decimal = (value) => String(+value.toPrecision(4)).replace("-", MINUS);

function useModel(info) {
  explained = { ...info, output_names: info.outputs };
  isClasses = info.task === "classification";
  isNumbers = info.task === "regression";
  outputs = info.outputs.map((name, number) => [number, name]);
}

// The token is in the fragment of the address, which is not sent anywhere, and then kept for this tab.
const givenToken = () => new URLSearchParams(location.hash.slice(1)).get("token");
if (givenToken()) {
  sessionStorage.setItem("token", givenToken());
  history.replaceState(null, "", location.pathname);
}
addEventListener("hashchange", () => { if (givenToken()) location.reload(); });

// Asks the server; again where it is still loading or busy. An answer that is not a success is thrown as a sentence.
const TRIES = 20, PAUSE = 2000;
const NO_TOKEN = `This server needs its token: open ${location.origin}/#token=TOKEN, the address that ssread serve printed when it started.`;
async function ask(path, options = {}, tries = TRIES) {
  const token = sessionStorage.getItem("token");
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch {
    throw new Error("The server does not answer: it may have been stopped.");
  }
  if (response.status === 503 && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    return ask(path, options, tries - 1);
  }
  if (response.status === 401) throw new Error(NO_TOKEN);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail ?? `The server answered with status ${response.status}.`);
  return answer;
}
function askModel(what, body) {
  return ask(`/api/models/${encodeURIComponent(explained.name)}/${what}`,
    { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}
// The share of cases in which sets and intervals hold the truth; models without calibration promise none.
const COVERAGE = 0.9;
const withCoverage = (body) => (explained.calibrated ? { ...body, coverage: COVERAGE } : body);
