// What was typed into a form, kept until the tab is closed: a reload loses nothing. Never secrets.

const PREFIX = "kconnect-draft ";
const SECRET = /passw|pwd|passphrase|secret|token|credential|private|jaas|keytab|user.?info|(api|access).?key|authorization|webhook|signature/i;
// As in URLs: `//user:password@`, and Oracle's `user/password@`.
const LOGIN = /\/\/[^/?#\s:@]*:[^/?#\s@]+@|oracle:\w+:[^/@\s]+\/[^@\s]+@/i;

/** The draft of a form, by a name. */
export function draftOf(name) {
  const key = PREFIX + name;
  return {
    /** Put what was typed into the values: whether there was something. */
    restore(values) {
      const kept = read(key);
      for (const [name, value] of Object.entries(kept)) values.set(name, value);
      return Object.keys(kept).length > 0;
    },
    /** answer: of the validation, which says what is a secret; without it nothing is kept. */
    keep(values, answer) {
      const plain = new Set((answer?.configs ?? []).filter(({ definition }) => definition && definition.type !== "PASSWORD").map(({ definition }) => definition.name));
      const kept = [...values].filter(([name, value]) => plain.has(name) && !SECRET.test(name) && !SECRET.test(value) && !LOGIN.test(value));
      write(key, Object.fromEntries(kept));
    },
    forget: () => write(key, null),
  };
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function write(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage a reload begins with an empty form.
  }
}
