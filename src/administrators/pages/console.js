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

/** What an address of ours answers with a number; undefined if it answers otherwise: the session may have ended. */
async function numberFrom(address) {
  const response = await fetch(address).catch(() => undefined);
  if (!response || response.status >= 500 || response.status === 429) return 0; // for now
  const isNumber = response.headers.get('content-type').startsWith('text/plain');
  return isNumber ? Number(await response.text()) : undefined;
}

// Says how many payments are new since the page was sent. Asks while the page is visible and its session lasts.
const news = document.querySelector('[data-news]');
if (news) {
  const EACH_MS = 20_000;
  const ask = async () => {
    if (document.visibilityState === 'visible') {
      const count = await numberFrom(news.dataset.news);
      if (count === undefined) return;
      const said = (count === 1 ? news.dataset.one : news.dataset.more).replace('{n}', count);
      if (count > 0 && news.textContent !== said) news.textContent = said;
    }
    setTimeout(ask, EACH_MS);
  };
  setTimeout(ask, EACH_MS);
}

// Warns before the session ends, unless another page of it was used meanwhile.
const ending = document.querySelector('[data-left]');
if (ending) {
  const [text, stay] = ending.children;
  const words = text.textContent;
  const wait = (seconds) => {
    ending.classList.remove('is-due');
    text.textContent = '';
    setTimeout(look, Math.max(seconds, 0) * 1000);
  };
  const look = async () => {
    const left = await numberFrom(`${ending.dataset.session}/left`);
    if (left > 0) return wait(left);
    ending.classList.add('is-due');
    text.textContent = words; // a change, so that it is read out
  };
  ending.classList.add('is-timed');
  wait(Number(ending.dataset.left));
  stay.addEventListener('click', async (event) => {
    event.preventDefault();
    await fetch(ending.dataset.session).catch(() => undefined);
    look();
  });
}

// The focus stands on what is pressed next where that is in sight, so that nothing is scrolled away.
const next = document.querySelector('[data-focus]');
if (next && matchMedia('(min-width: 60rem)').matches) next.focus({ preventScroll: true });

// Single letters as keys, unless the administrator switched them off. None decides: what they lead to asks.
const help = document.querySelector('[data-keys]');
if (help) {
  for (const one of document.querySelectorAll('[data-with-script]')) one.hidden = false;
  document.body.classList.add('with-keys');
  const rows = [...document.querySelectorAll('[data-key-row]')];
  const move = (step) => {
    const focused = rows.indexOf(document.activeElement);
    const at = focused === -1 ? rows.findIndex((row) => row.matches('[aria-current]')) : focused;
    const to = at === -1 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    // At either end the row itself, so that `o` has one: a search may leave the current row alone.
    rows[Math.max(0, Math.min(to, rows.length - 1))]?.focus();
  };
  const use = (key) => {
    const one = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (one?.matches('input, textarea, select')) one.focus();
    else one?.click();
  };
  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    o: () => rows[rows.indexOf(document.activeElement)]?.click(),
    x: () => document.activeElement.closest('tr')?.querySelector('[data-key-tick]')?.click(),
    '?': () => help.togglePopover() && help.querySelector('h2').focus(),
  };
  for (const key of 'npamreudi/') KEYS[key] = () => use(key);
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const isTyping = target.matches?.(
      'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]',
    );
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat)
      return;
    if (!Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    KEYS[key]();
  });
}
