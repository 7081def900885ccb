/**
 * The double binary tree: two trees over the same nodes, so that who has children in one is a leaf in the other.
 *
 * A node then sends and receives at most four half-buffers and no NIC idles while another works twice. The first
 * tree places node i by its lowest set bit; the second is the same tree over mirrored numbers (even count) or
 * numbers shifted by one (odd count), which swaps the roles of odd and even nodes.
 * Source: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (2009), as
 * used by NCCL since 2.4. Not modelled: NCCL's split of a host's tree roles over two GPUs.
 */

/** Parent of each node, -1 for the root. */
export type ParentArray = readonly number[];

function binaryTreeParent(node: number, count: number): number {
  if (node === 0) return -1;
  const lowestBit = node & -node;
  const above = (node ^ lowestBit) | (lowestBit << 1);
  return above < count ? above : node ^ lowestBit;
}

/** The two trees over nodes 0..count-1. */
export function doubleBinaryTree(count: number): [ParentArray, ParentArray] {
  const nodes = Array.from({ length: count }, (_, node) => node);
  const first = nodes.map((node) => binaryTreeParent(node, count));
  const mirrored = count % 2 === 0;
  const alias = (node: number) => (mirrored ? count - 1 - node : (node + count - 1) % count);
  const original = (node: number) => (mirrored ? count - 1 - node : (node + 1) % count);
  const second = nodes.map((node) => {
    const parent = binaryTreeParent(alias(node), count);
    return parent < 0 ? -1 : original(parent);
  });
  return [first, second];
}

/** Edges from the root to the farthest node. */
export function treeDepth(parents: ParentArray): number {
  let deepest = 0;
  for (let node = 0; node < parents.length; node++) {
    let depth = 0;
    for (let above = parents[node]; above >= 0; above = parents[above]) depth++;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
