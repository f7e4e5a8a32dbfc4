// Writes a page as the library does, so that the front end can be worked on and tested without it.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const SIZES = { f4: 4, f8: 8, u4: 4, i4: 4, u2: 2, u1: 1 };
const TYPES = { f4: Float32Array, f8: Float64Array, u4: Uint32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

function shuffled(bytes, size) {
  const count = bytes.length / size;
  const result = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let v = 0; v < count; v++) result[k * count + v] = bytes[v * size + k];
  return result;
}

function differences(values) {
  const result = values.slice();
  for (let k = values.length - 1; k > 0; k--) result[k] = values[k] - values[k - 1];
  return result;
}

export class Blocks {
  table = {};
  parts = [];
  length = 0;

  add(name, dtype, shape, values, coding = "zlib") {
    const typed = TYPES[dtype].from(values);
    const stored = coding === "zlib-delta" ? differences(typed) : typed;
    let bytes = new Uint8Array(stored.buffer, 0, stored.byteLength);
    if (coding === "zlib-shuffle") bytes = shuffled(bytes, SIZES[dtype]);
    const packed = deflateSync(bytes);
    this.table[name] = { dtype, shape, offset: this.length, length: packed.length, coding };
    this.parts.push(packed);
    this.length += packed.length;
    return name;
  }

  base64() {
    return Buffer.concat(this.parts).toString("base64");
  }
}

const escapeJson = (text) => text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const escapeHtml = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function fillPage({ title, headerText, base64, js, css }) {
  const policy = `default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html><html lang="en"><head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><style>${css}</style></head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="cotherm-header">${escapeJson(headerText)}</script>
<script type="application/octet-stream" id="cotherm-blocks">${base64}</script>
<script>${js}</script></body></html>
`;
}

export function writePage(header, blocks, { js, css }) {
  const whole = { ...header, blocks: blocks.table };
  return fillPage({ title: header.title, headerText: JSON.stringify(whole), base64: blocks.base64(), js, css });
}
