// The console's one script: passkeys, what is new in the queue, and single letters as keys. Every page works without it.

// Passkeys: a button fills in the field beside it and sends its form.
for (const part of document.querySelectorAll('[data-passkey]')) {
  const [field, button, problem] = ['input', 'button', '[role=alert]'].map((one) => part.querySelector(one));
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    problem.hidden = true;
    button.disabled = true;
    try {
      const asked = JSON.parse(part.dataset.options);
      const credential =
        part.dataset.passkey === 'create'
          ? await navigator.credentials.create({
              publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked),
            })
          : await navigator.credentials.get({
              publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked),
            });
      field.value = JSON.stringify(credential.toJSON());
      field.form.submit();
    } catch {
      problem.hidden = false;
      button.disabled = false;
    }
  });
}

// What is wrong with a form is where reading goes on.
document.getElementById('errors')?.focus();

// A second click on a button that sends does nothing for a second.
let sentAt = Number.NEGATIVE_INFINITY;
document.addEventListener('submit', (event) => {
  if (event.timeStamp - sentAt < 1000) event.preventDefault();
  else sentAt = event.timeStamp;
});

// Says how many payments are new since the page was sent. Asks while the page is visible and its session lasts.
const news = document.querySelector('[data-news]');
if (news) {
  const EACH_MS = 20_000;
  const ask = async () => {
    if (document.visibilityState === 'visible') {
      const response = await fetch(news.dataset.news).catch(() => undefined);
      const isAnswer = response?.headers.get('content-type').startsWith('text/plain');
      if (response && response.status < 500 && response.status !== 429 && !isAnswer) return; // 429: too many, for now
      const count = isAnswer ? Number(await response.text()) : 0;
      const said = count === 1 ? '1 new payment waits.' : `${count} new payments wait.`;
      if (count > 0 && news.textContent !== said) news.textContent = said;
    }
    setTimeout(ask, EACH_MS);
  };
  setTimeout(ask, EACH_MS);
}

// Single letters as keys, unless the administrator switched them off. None decides: what they lead to asks.
const help = document.querySelector('[data-keys]');
if (help) {
  help.hidden = false;
  const rows = [...document.querySelectorAll('[data-key-row]')];
  const move = (step) => {
    const at = rows.indexOf(document.activeElement);
    rows[at === -1 ? (step > 0 ? 0 : rows.length - 1) : at + step]?.focus();
  };
  const use = (key) => {
    const one = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (one?.matches('input, textarea, select')) one.focus();
    else one?.click();
    return one !== null;
  };
  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    o: () => rows[rows.indexOf(document.activeElement)]?.click(),
    a: () => use('a'),
    r: () => use('r'),
    m: () => use('m'),
    e: () => use('e'),
    u: () => use('u'),
    d: () => use('d'),
    i: () => use('i'),
    '/': () => use('/'),
    '?': () => {
      help.open = !help.open;
      if (help.open) help.querySelector('summary').focus();
    },
  };
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const isTyping = target.matches?.('input, textarea, select, [contenteditable]');
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat)
      return;
    if (!Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    KEYS[key]();
  });
}
