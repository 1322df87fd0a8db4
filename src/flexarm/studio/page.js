// Additions to viser's page: files dropped anywhere on it, clicks in maps, arrow keys in number fields, a size limit of
// files before they are sent, errors next to the field that caused them, and vertex colours of the arm. Elements are
// found by markers (`data-studio`) right before them.
(() => {
  "use strict";
  const MAX_FILE_BYTES = 0; // replaced by the server
  const HIDDEN = '[data-studio="event"], [data-studio="dropped"]';

  const inputAfterMarker = (name) => {
    const marker = document.querySelector(`[data-studio="${name}"]`);
    return marker?.parentElement?.nextElementSibling?.querySelector("input") ?? null;
  };

  // React notices a value only if it is set by the native setter.
  const setInput = (input, field, value) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, field).set.call(input, value);
    input.dispatchEvent(new Event(field === "files" ? "change" : "input", { bubbles: true }));
  };

  let eventCount = 0;
  const sendEvent = (content) => {
    const input = inputAfterMarker("event");
    if (input !== null) setInput(input, "value", JSON.stringify({ ...content, number: ++eventCount }));
    return input !== null;
  };

  const rejectLarge = (file) => {
    if (file.size <= MAX_FILE_BYTES) return false;
    sendEvent({ kind: "large", name: file.name, size: file.size });
    return true;
  };

  const overlay = document.createElement("div");
  overlay.textContent = "Drop a robot (.yaml), a run or a sweep (.nc)";
  overlay.style.cssText =
    "position:fixed;inset:0;z-index:10000;display:none;align-items:center;justify-content:center;pointer-events:none;" +
    "background:rgba(45,110,160,.25);border:4px dashed #2d6ea0;font:600 22px sans-serif;color:#12344d";
  const hideOverlay = () => (overlay.style.display = "none");

  const holdsFiles = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");

  window.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return; // panels can be dragged, too
    event.preventDefault();
    overlay.style.display = "flex";
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && hideOverlay());
  window.addEventListener("drop", (event) => {
    hideOverlay();
    if (!holdsFiles(event)) return;
    event.preventDefault(); // otherwise the browser opens the file instead of the page
    const files = event.dataTransfer.files;
    if (files.length > 1) {
      sendEvent({ kind: "several", count: files.length });
    } else if (files.length === 1 && !rejectLarge(files[0])) {
      const input = inputAfterMarker("dropped");
      if (input === null) window.alert("Nothing was opened: the panel of the studio is closed.");
      else setInput(input, "files", files);
    }
  });

  // Large files of the upload button are rejected before React receives the event.
  window.addEventListener(
    "change",
    (event) => {
      const input = event.target;
      if (input instanceof HTMLInputElement && input.type === "file" && input.files?.length && rejectLarge(input.files[0])) {
        event.stopImmediatePropagation();
      }
    },
    true,
  );

  window.addEventListener("click", (event) => {
    const map = event.target instanceof Element ? event.target.closest('[data-studio="map"]') : null;
    if (map === null) return;
    const box = map.getBoundingClientRect();
    sendEvent({ kind: "map", x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height });
  });

  // Number fields are text fields, which accept 1e-2. Arrow keys change them by about a twentieth, rounded to 1, 2 or
  // 5 times a power of ten; counts by one.
  const stepSize = (value) => {
    if (value === 0) return 0.01;
    const size = Math.abs(value) / 20;
    const power = 10 ** Math.floor(Math.log10(size));
    const distance = (step) => Math.abs(Math.log((step * power) / size));
    return power * [1, 2, 5, 10].reduce((best, step) => (distance(step) < distance(best) ? step : best));
  };
  window.addEventListener("keydown", (event) => {
    const input = event.target;
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (direction === undefined || !(input instanceof HTMLInputElement) || !input.matches(".mantine-TextInput-input")) return;
    const value = input.value.trim() === "" ? NaN : Number(input.value);
    if (!Number.isFinite(value)) return;
    event.preventDefault();
    const isInteger = /(count\)?|member)$/.test(input.labels?.[0]?.textContent.trim() ?? "");
    const step = isInteger ? 1 : stepSize(value);
    setInput(input, "value", String(Number((value + direction * step).toPrecision(12))));
  });

  // viser's labels of text fields refer to no element: connect them, for clicks and screen readers.
  const connectLabels = () => {
    for (const label of document.querySelectorAll("label[for]")) {
      if (document.getElementById(label.htmlFor) !== null) continue;
      const inputs = label.closest(".mantine-Flex-root")?.querySelectorAll("input.mantine-TextInput-input") ?? [];
      if (inputs.length === 1) inputs[0].id = label.htmlFor;
    }
  };

  // The error box at the top of the panel may be scrolled out of view: errors are repeated next to the element that was
  // used last, over the robot, where they cover no field.
  const callout = document.createElement("div");
  callout.setAttribute("role", "alert");
  callout.style.cssText =
    "position:fixed;z-index:9000;display:none;box-sizing:border-box;padding:10px 34px 10px 14px;border-radius:4px;" +
    "border-left:5px solid #b3261e;background:#fdecea;color:#b3261e;font:13px/1.4 sans-serif;overflow-wrap:anywhere;" +
    "max-height:60vh;overflow:auto;box-shadow:0 2px 12px rgba(0,0,0,.3)";
  const message = document.createElement("span");
  const dismiss = document.createElement("button");
  dismiss.textContent = "\u00d7";
  dismiss.setAttribute("aria-label", "Dismiss");
  dismiss.style.cssText = "position:absolute;top:2px;right:6px;border:0;background:none;color:inherit;font-size:20px;cursor:pointer";
  callout.append(message, dismiss);
  let lastUsed = null; // input or button
  let dismissed = null; // number of the dismissed error
  for (const kind of ["pointerdown", "keydown", "input"]) {
    const remember = ({ target }) => {
      const handle = target instanceof Element && !callout.contains(target) ? target.closest("input, button") : null;
      if (handle !== null) lastUsed = handle;
    };
    window.addEventListener(kind, remember, true);
  }
  window.addEventListener("drop", () => (lastUsed = null), true);
  dismiss.addEventListener("click", () => {
    dismissed = document.querySelector('[data-studio="error"]')?.dataset.number ?? null;
    showErrors();
  });

  const placeCallout = () => {
    if (callout.style.display === "none") return;
    const whole = { left: 0, right: window.innerWidth, width: window.innerWidth };
    const canvas = document.querySelector('canvas[data-engine^="three"]')?.getBoundingClientRect();
    const view = canvas?.width > 200 ? canvas : whole;
    callout.style.maxWidth = `${Math.min(380, view.width - 24)}px`;
    const { width, height } = callout.getBoundingClientRect();
    const at = lastUsed?.isConnected ? lastUsed.getBoundingClientRect() : null;
    const isVisible = at !== null && at.height > 0;
    const middle = view.left + (view.width - width) / 2;
    const [left, right] = [view.left + 12, view.right - width - 12];
    const x = !isVisible ? middle : at.left >= view.right - 2 ? right : at.right <= view.left + 2 ? left : middle;
    const y = isVisible ? at.top + (at.height - height) / 2 : window.innerHeight;
    callout.style.left = `${x}px`;
    callout.style.top = `${Math.max(12, Math.min(y, window.innerHeight - height - 12))}px`;
  };
  let rejected = null; // marked field and the number of its error
  const showErrors = () => {
    const error = document.querySelector('[data-studio="error"]');
    const shown = error !== null && error.dataset.number !== dismissed;
    if (error === null || rejected?.error !== error.dataset.number) rejected?.field.removeAttribute("data-rejected");
    if (error === null) rejected = dismissed = null;
    else if (rejected?.error !== error.dataset.number && lastUsed?.matches("input.mantine-TextInput-input")) {
      rejected = { field: lastUsed, error: error.dataset.number };
      lastUsed.setAttribute("data-rejected", "");
    }
    if (shown) message.textContent = error.textContent;
    callout.style.display = shown ? "block" : "none";
    placeCallout();
  };
  window.addEventListener("resize", placeCallout);
  window.addEventListener("scroll", placeCallout, true);

  let isScheduled = false;
  const scheduleUpdate = () => {
    if (isScheduled) return;
    isScheduled = true;
    window.requestAnimationFrame(() => {
      isScheduled = false;
      connectLabels();
      showErrors();
    });
  };

  // Boxes, legends and maps; tabs in one row; hints small and delayed, because they cover the fields above; compact legends of plots without the
  // cursor, which is the last series.
  const STYLE = `
    div:has(> :is(${HIDDEN})) + * { display: none }
    input[data-rejected] { border-color: #b3261e !important; background: #fdecea !important }
    [data-dock-strip] { flex-wrap: nowrap !important }
    [data-dock-tab] { padding: 0 2px !important; font-size: 11px; font-weight: 500 !important; flex: 0 1 auto;
      justify-content: center; letter-spacing: -0.3px }
    [data-dock-tab]:not(:only-child) { flex: 1 1 auto }
    @keyframes studio-delay { from, 70% { opacity: 0 } }
    .mantine-Tooltip-tooltip { width: max-content !important; padding: 1px 6px !important; font-size: 11px !important;
      pointer-events: none; animation: studio-delay 1s }
    body:has(input:focus) .mantine-Tooltip-tooltip { display: none }
    body .uplot .u-legend { line-height: 1.15; margin: 0 }
    body .uplot .u-legend :is(th, td) { padding: 0 2px }
    .studio-box { padding: 6px 10px; margin: 4px 8px; border-radius: 4px; font-size: 12px; overflow-wrap: anywhere }
    .studio-plain { background: #eef3f7; color: #20303c }
    .studio-note { background: #fff6e0; color: #6b4a00 }
    .studio-error { background: #fdecea; color: #b3261e }
    .studio-code { overflow: auto; font-size: 11px; margin: 6px 10px; padding: 6px; background: #f4f6f8 }
    .studio-legend { font-size: 12px; padding: 4px 10px }
    .studio-legend > div:last-child { display: flex; justify-content: space-between }
    .studio-bar { height: 14px; border: 1px solid #888 }
    [data-studio="map"] { position: relative; cursor: crosshair; margin: 4px 8px }
    [data-studio="map"] img { width: 100%; display: block }
    .studio-ring { position: absolute; box-sizing: content-box; width: 14px; height: 14px; margin: -9px 0 0 -9px;
      border: 2px solid #fff; outline: 2px solid #d1495b; border-radius: 50% }
    .u-legend .u-series:last-child, .u-over > .u-cursor-pt:last-child { display: none }
  `;

  // The arm is one mesh; the second half of its vertices, which no triangle uses, are the colours of the first half. They
  // become vertex colours before the frame is drawn. three.js announces its scenes to `__THREE_DEVTOOLS__`.
  const hasColours = (position, index) => {
    const half = position.count / 2;
    return Number.isInteger(half) && half > 0 && index.array.every((corner) => corner < half);
  };
  const painted = new WeakMap(); // geometries, with the data they were coloured by
  const paint = ({ geometry, material }) => {
    const { position, color } = geometry?.attributes ?? {};
    const index = geometry?.index;
    if (!position?.array || !index || !material?.isMeshStandardMaterial) return;
    const done = painted.get(geometry) ?? {};
    if (done.corners === position.array) return;
    const isKnown = done.count === position.count && done.triangles === index.array;
    const coloured = isKnown ? done.coloured : hasColours(position, index);
    painted.set(geometry, { corners: position.array, triangles: index.array, count: position.count, coloured });
    if (!coloured) return;
    const { length } = position.array;
    const colours = color?.array.length === length ? color : new position.constructor(new Float32Array(length), 3);
    colours.array.set(position.array.subarray(length / 2));
    colours.needsUpdate = true;
    if (colours !== color) geometry.setAttribute("color", colours);
    if (material.vertexColors) return;
    material.vertexColors = material.needsUpdate = true;
    material.color.set(0xffffff);
  };
  window.__THREE_DEVTOOLS__ ??= new EventTarget();
  window.__THREE_DEVTOOLS__.addEventListener("observe", ({ detail: scene }) => {
    if (!scene.isScene) return;
    const original = scene.onBeforeRender;
    scene.onBeforeRender = (...args) => {
      original.apply(scene, args);
      scene.traverse(paint);
    };
  });

  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver(scheduleUpdate).observe(document.body, { childList: true, subtree: true });
    const style = document.createElement("style");
    style.textContent = STYLE;
    document.head.append(style);
    document.body.append(overlay, callout);
  });
})();
