/**
 * The processor's time that this process has used, in milliseconds. What is held to be linear is measured
 * by it: the clock goes on while other programs run.
 *
 * @module
 */

import { cpuUsage } from "node:process";

export function cpuTime(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
