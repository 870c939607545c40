// Requests to the server this page came from. Paths are relative: the app may be mounted below any path.

const TOKEN = "kconnect-token";
let askForToken = null;

// `kconnect rest` prints an address that ends with its token. What is after # is not sent to any server.
if (location.hash.startsWith("#token=")) {
  remember(decodeURIComponent(location.hash.slice("#token=".length)));
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
}

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** What asks the user for a token when the server wants one: returns it, or null. */
export function onUnauthorized(ask) {
  askForToken = ask;
}

/** The parsed body of the answer; null if it is empty. Throws ApiError with the server's text. */
export async function request(method, path, body) {
  let response = await send(method, path, body);
  if (response.status === 401 && askForToken) {
    const token = await askForToken(await textOf(response));
    if (token) {
      remember(token);
      response = await send(method, path, body);
    }
  }
  if (!response.ok) throw new ApiError(response.status, await textOf(response));
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

export const get = (path) => request("GET", path);
export const post = (path, body) => request("POST", path, body);
export const put = (path, body) => request("PUT", path, body);

/** What asks for a list again and again: the server sends those parts of it that have changed, all others stay as they are. */
export function inParts(path) {
  let parts = {};
  let tag = "";
  return async () => {
    const answer = await get(`${path}?known=${tag}`);
    tag = answer.tag;
    parts = { ...parts, ...answer.parts };
    return { rows: Object.values(parts).flat(), changed: Object.keys(answer.parts).length > 0, problem: answer.problem };
  };
}

/** `connectors/<name>/<rest>`; names may contain any character. */
export function ofConnector(name, rest = "") {
  return `connectors/${encodeURIComponent(name)}${rest}`;
}

async function send(method, path, body) {
  const headers = { Accept: "application/json" };
  const token = remembered();
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    return await fetch(`../${path}`, {
      method,
      headers,
      cache: "no-store",
      credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, "The server does not answer.");
  }
}

async function textOf(response) {
  const text = await response.text();
  try {
    const { message, detail } = JSON.parse(text);
    // The page shows the errors of a configuration at its fields: no need to say where else they are.
    return String(message ?? detail ?? text).replace(/\nYou can also find the above list of errors at .*$/, "");
  } catch {
    return `HTTP ${response.status} ${response.statusText}`;
  }
}

function remembered() {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
}

function remember(token) {
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // Without storage the server asks again.
  }
}
