"use strict";
// Draws the charts that the page's JSON describes, at the page's width and in its theme. Text is only ever set as text.
(() => {
  const { data: told, charts, themes, params: chosen } = JSON.parse(document.getElementById("board").textContent);
  const now = Date.parse(told.time), dark = matchMedia("(prefers-color-scheme: dark)");
  const fresh = Number(document.documentElement.dataset.fresh || 0); // seconds, 0 for a file
  chosen.now = now;
  chosen.begun = Math.min(Date.parse(told.begun), now - 36e5);
  chosen.most = told.most;
  const causes = Object.fromEntries([...told.sweeps.flatMap((one) => one.runs), ...told.lives].map((one) => [one.id, one.cause]));
  const jobs = told.jobs.rows.map((row) => {
    const job = Object.fromEntries(told.jobs.columns.map((key, at) => [key, row[at]]));
    const at = (key) => (job[key] ? Date.parse(job[key]) : now);
    job.waited = (job.startTime ? at("startTime") : at("endTime")) - at("createTime");
    job.ran = job.startTime ? at("endTime") - at("startTime") : null;
    job.error = causes[job.id] || job.error;
    job.why = told.now?.waiting.find((one) => one.id === job.id)?.why;
    job.like = job.template && /^[A-Za-z0-9][\w.-]*$/.test(job.displayName) ? `slipway submit --like ${job.displayName}` : null;
    job.place = job.on.length ? told.bands[job.on[0][0]].name : job.capacityType;
    return job;
  });
  const bounds = (row, atMost) => ({ bound: atMost ? "≤ " : "", more: row.costComplete ? "" : "+" });
  const within = (name, some, key) => some.flatMap((one, at) => one[key].map((row) => ({ ...row, [name]: at })));
  const data = {
    jobs, deployments: told.deployments, days: told.days,
    ...Object.fromEntries(["points", "ticks", "curves"].map((key) => [key, within("sweep", told.sweeps, key)])),
    ...Object.fromEntries(["phases", "marks", "use"].map((key) => [key, within("life", told.lives, key)])),
    shares: Object.entries(told.usage).flatMap(([by, { rows, idle }]) => [
      ...rows.slice(0, 8).map((row) => ({ by, name: row.name || "(none)", pool: Number(row.poolCost), beside: Number(row.besideCost), idle: 0, ...bounds(row, row.costAtMost) })),
      ...idle.filter((row) => row.knownHours).map((row) => ({ by, name: `idle ${row.pool}`, pool: 0, beside: 0, idle: Number(row.cost), ...bounds(row, row.atMost) })),
    ]),
    bands: told.bands.map((band, index) => ({ ...band, index })),
    pools: told.now?.pools, gauges: told.now?.gauges,
  };

  // ---- words
  // As the tables beside them, which slipway/base/formatting.py and slipway/operating/board/page.py word: halves go to the even number.
  const round = (number) => (number % 1 === 0.5 ? 2 * Math.round(number / 2) : Math.round(number));
  const spanOf = (ms) => {
    const seconds = Math.max(0, round(ms / 1e3)), minutes = round(seconds / 60), hours = Math.floor(minutes / 60);
    if (seconds < 60) return `${seconds} s`;
    if (minutes < 60) return `${minutes} min`;
    return hours < 48 ? `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ""}` : `${round(hours / 24)} days`;
  };
  const usd = (amount, digits) => `$${amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
  const money = (value) => {
    const amount = Number(value);
    if (value === null || value === undefined) return "–";
    return amount > 0 && amount < 1e-4 ? "under $0.0001" : usd(amount, amount > 0 && amount < 1 ? 4 : 2);
  };
  vega.expressionFunction("money", money);
  vega.expressionFunction("dollars", (amount) => (amount >= 100 ? usd(amount, 0) : money(amount)));
  const words = {
    moment: (text) => new Date(text).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC" }).replace(",", ""),
    span: spanOf,
    money,
    state: (text) => text.replace("-", " "),
  };
  const fill = (root, job) => {
    for (const element of root.querySelectorAll("[data-key]")) {
      const value = job[element.dataset.key], as = words[element.dataset.as];
      const missing = value === null || value === undefined || value === "";
      element.textContent = missing ? (/^(P|CODE|SMALL)$/.test(element.tagName) ? "" : "–") : as ? as(value) : value;
    }
  };

  // ---- charts
  const views = new Map(); // of each figure that was drawn; null while it is being drawn
  const spec = (figure) => {
    const { spec, uses, room } = charts[figure.dataset.chart], own = JSON.parse(figure.dataset.params || "{}");
    const width = Math.max(120, figure.clientWidth - room);
    const whole = JSON.parse(JSON.stringify(spec), (key, value) => (key === "width" && value === "page" ? width : value));
    for (const param of whole.params || []) param.value = own[param.name] ?? chosen[param.name] ?? param.value;
    figure.dataset.label ||= figure.getAttribute("aria-label"); // It is written over by the description.
    whole.description = figure.dataset.label;
    // A view writes into its rows, so each has its own.
    whole.datasets = JSON.parse(JSON.stringify(Object.fromEntries(uses.map((name) => [name, data[name] || []]))));
    return whole;
  };
  const draw = async (figure, theme = dark.matches ? "dark" : "light") => {
    views.get(figure)?.finalize();
    views.set(figure, null);
    const options = { ast: true, actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true }, renderer: "svg" };
    const { view } = await vegaEmbed(figure, spec(figure), { ...options, config: themes[theme], logLevel: vega.Error });
    view.addEventListener("click", (_, item) => { if (item?.datum?.displayName) location.hash = `job=${item.datum.id}`; });
    views.set(figure, view);
    figure.dataset.drawn = "1";
  };
  const drawAll = (theme) => Promise.all([...views.keys()].map((figure) => draw(figure, theme)));
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && !views.has(target)) draw(target);
  }, { rootMargin: "600px" });
  const figures = [...document.querySelectorAll("[data-chart]:not([data-late])")];
  figures.forEach((figure) => seen.observe(figure));
  // The first ones also where nobody has scrolled to them, so that they can be printed.
  const next = () => {
    const figure = figures.slice(0, 24).find((one) => !views.has(one));
    if (figure) draw(figure).then(() => setTimeout(next, 30));
  };
  addEventListener("load", () => setTimeout(next, 300));
  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });

  let width = innerWidth, pending;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(pending);
    pending = setTimeout(drawAll, 150);
  });
  dark.addEventListener("change", () => drawAll());

  document.addEventListener("change", async ({ target }) => {
    const name = target.dataset.param;
    if (!name) return;
    chosen[name] = target.dataset.number ? Number(target.value) : target.value;
    for (const other of document.querySelectorAll(`[data-param="${name}"]`)) other.checked = other.value === target.value;
    const takes = (figure) => charts[figure.dataset.chart].spec.params?.some((param) => param.name === name);
    const asked = [...views].filter(([figure, view]) => view && takes(figure));
    await Promise.all(asked.map(([, view]) => view.signal(name, chosen[name]).runAsync()));
    document.documentElement.dataset[name] = target.value;
  });

  // ---- jobs: a page of rows of those that are looked for
  const newest = jobs.slice().reverse(), rows = document.getElementById("rows"), find = document.getElementById("find");
  const template = document.getElementById("row"), PAGE = 25;
  let first = 0;
  const list = () => {
    const text = find.value.trim().toLowerCase();
    const keys = ["displayName", "user", "team", "template", "state", "place", "sweep", "id"];
    const found = text ? newest.filter((job) => keys.some((key) => String(job[key] ?? "").toLowerCase().includes(text))) : newest;
    first = Math.max(0, Math.min(first, found.length - 1));
    rows.replaceChildren(...found.slice(first, first + PAGE).map((job) => {
      const row = template.content.cloneNode(true);
      fill(row, job);
      row.querySelector("a").href = `#job=${job.id}`;
      return row;
    }));
    const last = Math.min(first + PAGE, found.length);
    document.getElementById("found").textContent = found.length ? `${first + 1}–${last} of ${found.length.toLocaleString("en-US")}` : "no job matches";
    document.getElementById("newer").disabled = first === 0;
    document.getElementById("older").disabled = last >= found.length;
  };
  find.addEventListener("input", () => { first = 0; list(); });
  document.getElementById("newer").addEventListener("click", () => { first -= PAGE; list(); });
  document.getElementById("older").addEventListener("click", () => { first += PAGE; list(); });
  list();

  // ---- one job
  const one = document.getElementById("one");
  const show = () => {
    const id = /^#job=(\w+)$/.exec(location.hash)?.[1], job = id && jobs.find((some) => some.id === id);
    one.hidden = !job;
    document.getElementById("choose").hidden = Boolean(job);
    if (!job) return;
    fill(one, job);
    let own = null;
    for (const life of one.querySelectorAll("[data-life]")) {
      life.hidden = life.dataset.life !== id;
      if (!life.hidden) own = life;
    }
    const plain = document.getElementById("plain"), begin = job.createTime, end = job.endTime || told.time;
    plain.hidden = Boolean(own);
    if (!own) {
      const more = document.getElementById("more"), read = document.getElementById("read");
      more.textContent = `slipway board --job ${id}`;
      more.hidden = Boolean(fresh);
      read.hidden = !fresh;
      read.href = `?job=${id}#job=${id}`;
      data.phases = data.phases.filter((phase) => phase.life >= 0);
      data.phases.push({ life: -1, what: "waiting", begin, end: job.startTime || end });
      if (job.startTime) data.phases.push({ life: -1, what: "running", begin: job.startTime, end });
      const window = { begin: Date.parse(begin), end: Math.max(Date.parse(end), Date.parse(begin) + 1e3) };
      plain.querySelector("[data-chart]").dataset.params = JSON.stringify(window);
    }
    (own || plain).querySelectorAll("[data-chart]").forEach((figure) => draw(figure));
    document.getElementById("job").scrollIntoView();
  };
  addEventListener("hashchange", show);
  show();

  // ---- one that is served asks for a newer one, unless somebody types or looks elsewhere
  if (fresh) setInterval(() => { if (!document.hidden && document.activeElement !== find) location.reload(); }, fresh * 1e3);
})();
