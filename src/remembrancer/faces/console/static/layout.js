// Places the nodes of a graph in a unit square. The same graph always looks the same.

const ROUNDS = 220;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Return {x, y} for each node, by forces: all push each other away, edges pull together.
 * `centre`: index of a node that stays in the middle, or null.
 */
export function placed(count, edges, centre = null) {
  const at = Array.from({ length: count }, (_, n) => {
    const radius = 0.45 * Math.sqrt((n + 0.5) / count);
    return { x: radius * Math.cos(n * GOLDEN), y: radius * Math.sin(n * GOLDEN) };
  });
  if (centre !== null) at[centre] = { x: 0, y: 0 };
  const ideal = 0.9 / Math.sqrt(Math.max(count, 1));
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 0.06 * (1 - round / ROUNDS);
    const moves = at.map(() => ({ x: 0, y: 0 }));
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) push(at, moves, a, b, ideal);
    }
    for (const { from, to, weight } of edges) pull(at, moves, from, to, ideal, weight);
    for (let n = 0; n < count; n += 1) {
      if (n === centre) continue;
      moves[n].x -= at[n].x * 0.4;
      moves[n].y -= at[n].y * 0.4;
      const length = Math.hypot(moves[n].x, moves[n].y) || 1;
      at[n].x += (moves[n].x / length) * Math.min(length, heat);
      at[n].y += (moves[n].y / length) * Math.min(length, heat);
    }
  }
  return scaled(at);
}

function push(at, moves, a, b, ideal) {
  const x = at[a].x - at[b].x;
  const y = at[a].y - at[b].y;
  const square = Math.max(x * x + y * y, 1e-4);
  const force = (ideal * ideal) / square;
  moves[a].x += x * force;
  moves[a].y += y * force;
  moves[b].x -= x * force;
  moves[b].y -= y * force;
}

function pull(at, moves, a, b, ideal, weight) {
  const x = at[a].x - at[b].x;
  const y = at[a].y - at[b].y;
  const force = (Math.hypot(x, y) / ideal) * Math.min(1, 0.3 + 0.1 * weight);
  moves[a].x -= x * force;
  moves[a].y -= y * force;
  moves[b].x += x * force;
  moves[b].y += y * force;
}

function scaled(at) {
  const xs = at.map((each) => each.x);
  const ys = at.map((each) => each.y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left || 1, Math.max(...ys) - top || 1];
  return at.map(({ x, y }) => ({
    x: at.length === 1 ? 0.5 : (x - left) / width,
    y: at.length === 1 ? 0.5 : (y - top) / height,
  }));
}
