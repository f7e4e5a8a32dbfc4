// GLSL of the three things that are drawn: vertices, surfaces, edges; and of pictures laid over them.

/** Heat -> color, as color/scale.ts has it. */
const HEAT = `
uniform vec3 scale;  // low, high, stretch: 0 linear, 1 root, 2 log
uniform float part;
uniform float silent; // 1 where there is no heat at all
uniform sampler2D map;
uniform vec3 background;
float partOf(float heat) {
  float h = clamp((heat - scale.x) / (scale.y - scale.x), 0.0, 1.0);
  if (scale.z > 1.5) return max(0.0, 1.0 + log(max(h, 1e-30)) / (4.0 * log(10.0)));
  return scale.z > 0.5 ? sqrt(h) : h;
}
vec3 heatColor(float h) {
  return mix(textureLod(map, vec2((h * 255.0 + 0.5) / 256.0, 0.5), 0.0).rgb, mix(background, vec3(0.5), 0.32), silent);
}
`;

export const POINTS_VERTEX = `#version 300 es
in vec3 position;
uniform mat4 matrix;
uniform float size;
uniform float flatView;
in float heatA;
in float heatB;
${HEAT}
out vec3 color;
out float pixels;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  float h = partOf(mix(heatA, heatB, part));
  color = heatColor(h);
  float depth = gl_Position.z / gl_Position.w;
  if (flatView > 0.5) gl_Position.z = (0.9 - 1.8 * h) * gl_Position.w; // hot vertices lie above cold ones
  else color = mix(color, background, (1.0 - h) * clamp(0.55 * depth + 0.1, 0.0, 0.5));
  pixels = size * (flatView > 0.5 ? 1.0 : clamp(1.0 / gl_Position.w, 0.5, 3.0)) * (1.0 + 0.35 * h);
  gl_PointSize = pixels;
}`;

export const POINTS_FRAGMENT = `#version 300 es
precision highp float;
in vec3 color;
in float pixels;
uniform vec3 background;
out vec4 result;
void main() {
  float r = length(gl_PointCoord - 0.5) * pixels;
  float edge = pixels * 0.5;
  if (pixels > 2.5 && r > edge) discard;
  // A thin rim in the color of the background parts vertices that overlap.
  float rim = pixels > 6.0 ? smoothstep(edge - 1.5, edge - 0.5, r) : 0.0;
  result = vec4(mix(color, background, rim), 1.0);
}`;

/** Instead of a color the vertex's number (from 1, in 24 bits), how far it is (7 bits) and whether this is its rim (1 bit). */
export const NUMBERS_VERTEX = `#version 300 es
in vec3 position;
uniform mat4 matrix;
uniform float size;
uniform float flatView;
flat out uint code;
flat out float pixels;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  float depth = gl_Position.z / gl_Position.w;
  float far = flatView > 0.5 ? 0.0 : clamp(0.55 * depth + 0.1, 0.0, 0.5);
  pixels = size * (flatView > 0.5 ? 1.0 : clamp(1.0 / gl_Position.w, 0.5, 3.0));
  gl_PointSize = pixels;
  code = uint(gl_VertexID + 1) | (uint(far * 254.0) << 24);
}`;

export const NUMBERS_FRAGMENT = `#version 300 es
precision highp float;
flat in uint code;
flat in float pixels;
out uvec4 result;
void main() {
  float r = length(gl_PointCoord - 0.5) * pixels;
  if (pixels > 2.5 && r > 0.5 * pixels) discard;
  uint rim = pixels > 6.0 && r > 0.5 * pixels - 1.0 ? 1u : 0u;
  result = uvec4(code | (rim << 31), 0u, 0u, 0u);
}`;

/** A color for every vertex. */
export const COLORS_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D heats;
uniform sampler2D laterHeats;
${HEAT}
out vec4 result;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float h = partOf(mix(texelFetch(heats, at, 0).r, texelFetch(laterHeats, at, 0).r, part));
  result = vec4(heatColor(h), h);
}`;

/** Numbers and colors of vertices -> the picture of them, between the edges under and over them: all in one pass. */
export const COMPOSE_FRAGMENT = `#version 300 es
precision highp float;
precision highp usampler2D;
uniform usampler2D numbers;
uniform sampler2D colors;
uniform sampler2D under;
uniform sampler2D over;
uniform vec3 background;
out vec4 result;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint code = texelFetch(numbers, at, 0).r;
  vec3 here;
  if (code == 0u) here = texelFetch(under, at, 0).rgb;
  else {
    int v = int(code & 0xffffffu) - 1;
    vec4 color = texelFetch(colors, ivec2(v & 255, v >> 8), 0);
    float far = float((code >> 24) & 0x7fu) / 254.0 * (1.0 - color.a);
    here = mix(color.rgb, background, code >> 31 == 1u ? 1.0 : far);
  }
  vec4 above = texelFetch(over, at, 0);
  result = vec4(here * (1.0 - above.a) + above.rgb, 1.0);
}`;

export const SURFACE_VERTEX = `#version 300 es
in vec3 position;
in vec3 normal;
in float heatA;
in float heatB;
uniform mat4 matrix;
uniform mat3 turn;
${HEAT}
out vec3 color;
out vec3 direction;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  color = heatColor(partOf(mix(heatA, heatB, part)));
  direction = turn * normal;
}`;

export const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 color;
in vec3 direction;
out vec4 result;
void main() {
  vec3 n = normalize(direction);
  if (n.z < 0.0) n = -n; // both sides are lit: orientation of faces is not known
  float key = max(0.0, dot(n, normalize(vec3(-0.35, 0.55, 0.8))));
  float shade = 0.52 + 0.48 * key;
  float shine = 0.1 * pow(key, 24.0);
  result = vec4(color * shade + shine, 1.0);
}`;

export const EDGES_VERTEX = `#version 300 es
in vec2 corner;
in vec3 start;
in vec3 end;
in vec4 style; // strength, kind / 255, visible
uniform mat4 matrix;
uniform vec2 size;
uniform float pixel;
uniform float bias;
uniform vec3 colors[5];
uniform float widths[5];
uniform float strengthWidth;
uniform float emphasis;
uniform float alpha;
uniform float fade;
out vec4 tint;
out float along;
out float across;
flat out float halfWidth;
flat out int kind;
void main() {
  vec4 a = matrix * vec4(start, 1.0);
  vec4 b = matrix * vec4(end, 1.0);
  kind = int(style.y * 255.0 + 0.5);
  if (style.z < 0.5 || a.w <= 0.0 || b.w <= 0.0) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  vec2 pa = a.xy / a.w * size * 0.5;
  vec2 pb = b.xy / b.w * size * 0.5;
  float length = distance(pa, pb);
  vec2 ahead = length > 1e-3 ? (pb - pa) / length : vec2(1.0, 0.0);
  halfWidth = 0.5 * pixel * (kind == 0 ? mix(0.8, 0.8 + strengthWidth, style.x) : max(emphasis, 0.45) * widths[kind] * mix(0.7, 1.3, style.x));
  float reach = halfWidth + 0.5;
  vec2 place = mix(pa, pb, corner.x) + vec2(-ahead.y, ahead.x) * corner.y * reach;
  float z = mix(a.z / a.w, b.z / b.w, corner.x);
  gl_Position = vec4(place / (size * 0.5), z - bias, 1.0);
  along = corner.x * length;
  across = corner.y * reach;
  float opacity = kind == 0 ? alpha * mix(0.25, 1.0, style.x) : emphasis * mix(0.5, 1.0, style.x);
  opacity *= 1.0 - fade * clamp(0.5 * z + 0.3, 0.0, 0.8);
  tint = vec4(colors[kind] * opacity, opacity);
}`;

export const EDGES_FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint;
in float along;
in float across;
flat in float halfWidth;
flat in int kind;
uniform float pixel;
uniform float dashes;
out vec4 result;
void main() {
  float cover = clamp(halfWidth + 0.5 - abs(across), 0.0, 1.0) * min(1.0, 2.0 * halfWidth);
  if (kind == 1 && dashes > 0.5 && mod(along, 8.0 * pixel) > 5.0 * pixel) discard;
  if (kind == 4 && mod(along, 4.5 * pixel) > 2.0 * pixel) discard;
  result = tint * cover;
}`;

/** Edges as before of large views: lines of one pixel. Many are drawn far faster than as rectangles where the processor draws. */
export const LINES_VERTEX = `#version 300 es
in vec3 position;
in vec4 style; // as for edges
uniform mat4 matrix;
uniform vec3 color;
uniform float alpha;
uniform float fade;
out vec4 tint;
void main() {
  gl_Position = matrix * vec4(position, 1.0);
  float depth = gl_Position.z / gl_Position.w;
  float opacity = alpha * mix(0.25, 1.0, style.x) * step(0.5, style.z) * (1.0 - fade * clamp(0.5 * depth + 0.3, 0.0, 0.8));
  tint = vec4(color * opacity, opacity);
}`;

export const LINES_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 result;
void main() { result = tint; }`;

export const DEPTH_VERTEX = `#version 300 es
in vec3 position;
uniform mat4 matrix;
void main() { gl_Position = matrix * vec4(position, 1.0); }`;

export const DEPTH_FRAGMENT = `#version 300 es
precision mediump float;
out vec4 result;
void main() { result = vec4(0.0); }`;

/** Fills the viewport. */
export const PICTURE_VERTEX = `#version 300 es
in vec2 corner;
void main() { gl_Position = vec4(corner.x * 2.0 - 1.0, corner.y, 0.0, 1.0); }`;

/** A picture as large as the canvas, pixel by pixel. */
export const PICTURE_FRAGMENT = `#version 300 es
precision mediump float;
uniform sampler2D picture;
out vec4 result;
void main() { result = texelFetch(picture, ivec2(gl_FragCoord.xy), 0); }`;
