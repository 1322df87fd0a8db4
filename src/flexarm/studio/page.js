// What the page does beyond viser's: files dropped anywhere on it, points of maps that are clicked, numbers that arrow
// keys turn, and files that are too large, which are refused before they are sent. Elements are found by marks that stand right before them.
(() => {
  "use strict";
  const LARGEST = 0; // bytes: the server puts its own limit here
  const HIDDEN = '[data-studio="told"], [data-studio="dropped"]';

  const behind = (name) => {
    const mark = document.querySelector(`[data-studio="${name}"]`);
    return mark?.parentElement?.nextElementSibling?.querySelector("input") ?? null;
  };

  // React hears of a value only if the element's own setter is passed by.
  const put = (input, field, value) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, field).set.call(input, value);
    input.dispatchEvent(new Event(field === "files" ? "change" : "input", { bubbles: true }));
  };

  let told = 0;
  const tell = (what) => {
    const input = behind("told");
    if (input !== null) put(input, "value", JSON.stringify({ ...what, number: ++told }));
    return input !== null;
  };

  const tooLarge = (file) => {
    if (file.size <= LARGEST) return false;
    tell({ kind: "large", name: file.name, size: file.size });
    return true;
  };

  const veil = document.createElement("div");
  veil.textContent = "Drop a robot (.yaml), a run or a sweep (.nc)";
  veil.style.cssText =
    "position:fixed;inset:0;z-index:10000;display:none;align-items:center;justify-content:center;pointer-events:none;" +
    "background:rgba(45,110,160,.25);border:4px dashed #2d6ea0;font:600 22px sans-serif;color:#12344d";
  const lift = () => (veil.style.display = "none");

  const holdsFiles = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");

  window.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return; // panels are dragged, too
    event.preventDefault();
    veil.style.display = "flex";
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && lift());
  window.addEventListener("drop", (event) => {
    lift();
    if (!holdsFiles(event)) return;
    event.preventDefault(); // or the browser would leave the page for the file
    const files = event.dataTransfer.files;
    if (files.length > 1) {
      tell({ kind: "several", count: files.length });
    } else if (files.length === 1 && !tooLarge(files[0])) {
      const input = behind("dropped");
      if (input === null) window.alert("Nothing was opened: the panel of the studio is closed.");
      else put(input, "files", files);
    }
  });

  // The button takes large files as well: caught before React hears of them.
  window.addEventListener(
    "change",
    (event) => {
      const input = event.target;
      if (input instanceof HTMLInputElement && input.type === "file" && input.files?.length && tooLarge(input.files[0])) {
        event.stopImmediatePropagation();
      }
    },
    true,
  );

  window.addEventListener("click", (event) => {
    const map = event.target instanceof Element ? event.target.closest('[data-studio="map"]') : null;
    if (map === null) return;
    const box = map.getBoundingClientRect();
    tell({ kind: "map", x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height });
  });

  // Numbers stand in text fields, which take 1e-2 as it is typed. About a twentieth of what is there: 1, 2 or 5 times
  // a power of ten.
  const stepOf = (value) => {
    if (value === 0) return 0.01;
    const size = Math.abs(value) / 20;
    const power = 10 ** Math.floor(Math.log10(size));
    const apart = (step) => Math.abs(Math.log((step * power) / size));
    return power * [1, 2, 5, 10].reduce((best, step) => (apart(step) < apart(best) ? step : best));
  };
  window.addEventListener("keydown", (event) => {
    const input = event.target;
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (way === undefined || !(input instanceof HTMLInputElement) || !input.matches(".mantine-TextInput-input")) return;
    const value = input.value.trim() === "" ? NaN : Number(input.value);
    if (!Number.isFinite(value)) return;
    event.preventDefault();
    put(input, "value", String(Number((value + way * stepOf(value)).toPrecision(12))));
  });

  // Labels of text fields lead nowhere in viser: neither a click on them nor a screen reader finds the field.
  const nameFields = () => {
    for (const label of document.querySelectorAll("label[for]")) {
      if (document.getElementById(label.htmlFor) !== null) continue;
      const inputs = label.closest(".mantine-Flex-root")?.querySelectorAll("input.mantine-TextInput-input") ?? [];
      if (inputs.length === 1) inputs[0].id = label.htmlFor;
    }
  };
  let naming = false;
  const nameSoon = () => {
    if (naming) return;
    naming = true;
    window.requestAnimationFrame(() => {
      naming = false;
      nameFields();
    });
  };

  // The arm is one mesh, whose second half of corners are the colours of the first: no triangle leads to them. Here they
  // become colours, before the frame is drawn that has the corners. three.js tells whoever asks of scenes it makes.
  const colouredHalf = (position, index) => {
    const half = position.count / 2;
    return Number.isInteger(half) && half > 0 && index.array.every((corner) => corner < half);
  };
  const painted = new WeakMap(); // geometries, with what they were painted by
  const paint = ({ geometry, material }) => {
    const { position, color } = geometry?.attributes ?? {};
    const index = geometry?.index;
    if (!position?.array || !index || !material?.isMeshStandardMaterial) return;
    const done = painted.get(geometry) ?? {};
    if (done.corners === position.array) return;
    const known = done.count === position.count && done.triangles === index.array;
    const coloured = known ? done.coloured : colouredHalf(position, index);
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
    const usual = scene.onBeforeRender;
    scene.onBeforeRender = (...given) => {
      usual.apply(scene, given);
      scene.traverse(paint);
    };
  });

  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver(nameSoon).observe(document.body, { childList: true, subtree: true });
    const style = document.createElement("style");
    style.textContent = `div:has(> :is(${HIDDEN})) + * { display: none }`;
    document.head.append(style);
    document.body.append(veil);
  });
})();
