/*
 * webm.js: a WebM file of encoded VP8 frames: an EBML header and one segment, with a cluster at each key frame. Element numbers as
 * in the Matroska specification (RFC 9559).
 */
const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TRACKS = 0x1654ae6b;
const CLUSTER = 0x1f43b675;

/** The bytes of a number, the first one first, without zeros in front. */
function big(value) {
  const bytes = [];
  for (let left = value; left > 0 || !bytes.length; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return Uint8Array.from(bytes);
}

/** A length as EBML writes it: the first set bit gives the count of bytes; here always 8. */
function length(value) {
  const bytes = new Uint8Array(8);
  bytes.set(big(value), 8 - big(value).length);
  bytes[0] = 1;
  return bytes;
}

function joined(pieces) {
  const made = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    made.set(piece, at);
    at += piece.length;
  }
  return made;
}

/** An element: content is a number, a text, bytes or elements. */
function element(id, content) {
  let bytes = content;
  if (typeof content === "number") bytes = big(content);
  else if (typeof content === "string") bytes = new TextEncoder().encode(content);
  else if (Array.isArray(content)) bytes = joined(content);
  return joined([big(id), length(bytes.length), bytes]);
}

function float(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

/** chunks: [{ bytes, milliseconds, key }] in order; the first one is a key frame. */
export function webm(chunks, { width, height, fps }) {
  const duration = (chunks.at(-1)?.milliseconds ?? 0) + 1000 / fps;
  const clusters = [];
  for (const chunk of chunks) {
    if (chunk.key) clusters.push({ time: Math.round(chunk.milliseconds), blocks: [] });
    const { time, blocks } = clusters.at(-1);
    const block = new Uint8Array(4 + chunk.bytes.length);
    block[0] = 0x81; // track 1
    new DataView(block.buffer).setInt16(1, Math.round(chunk.milliseconds) - time);
    block[3] = chunk.key ? 0x80 : 0;
    block.set(chunk.bytes, 4);
    blocks.push(element(0xa3, block));
  }
  return joined([
    element(EBML, [element(0x4286, 1), element(0x42f7, 1), element(0x42f2, 4), element(0x42f3, 8), element(0x4282, "webm"),
      element(0x4287, 2), element(0x4285, 2)]),
    element(SEGMENT, [
      element(INFO, [element(0x2ad7b1, 1000000), element(0x4489, float(duration)), element(0x4d80, "cutis"),
        element(0x5741, "cutis studio")]),
      element(TRACKS, [element(0xae, [element(0xd7, 1), element(0x73c5, 1), element(0x9c, 0), element(0x86, "V_VP8"),
        element(0x83, 1), element(0xe0, [element(0xb0, width), element(0xba, height)])])]),
      ...clusters.map(({ time, blocks }) => element(CLUSTER, [element(0xe7, time), ...blocks])),
    ]),
  ]);
}
