import { randomInt } from 'node:crypto';

const ADJECTIVES = (
  'able amber bold brave breezy bright brisk calm candid cheery clever cosmic cozy crisp curious ' +
  'daring deft eager early fair fearless fleet fond frank free fresh gentle glad golden grand happy ' +
  'hardy hearty honest humble jolly keen kind lively lucky mellow merry mighty mild nimble noble ' +
  'patient plucky polite proud quick quiet rapid ready rosy rustic silver snug sunny swift tidy ' +
  'warm wise witty'
).split(' ');

const NOUNS = (
  'alder aspen badger beaver birch bison brook cedar comet condor coral crane creek cricket dolphin ' +
  'dune egret elm ember falcon fern finch fjord fox gannet glacier grove gull harbor hare hawk hazel ' +
  'heron ibex ibis island juniper kestrel lark lemur linden lynx maple marten meadow mesa moose ' +
  'nettle newt oak orca osprey otter panda pine plover puffin raven reef robin rowan sable salmon ' +
  'seal sparrow spruce stork summit swan tern thistle tiger trout tulip walnut willow wren zebra'
).split(' ');

const MAX_NUMBER = 10_000;

/**
 * A username for somebody who has not chosen one, as in `brisk-otter-4821`. It says nothing about
 * them, since everybody may see it. There are about 50 million; the index sees to it that no two
 * members of a brand have the same.
 */
export function inventUsername(): string {
  return `${pick(ADJECTIVES)}-${pick(NOUNS)}-${randomInt(MAX_NUMBER)}`;
}

function pick(words: string[]): string {
  return words[randomInt(words.length)]!;
}
