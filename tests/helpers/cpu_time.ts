/**
 * The processor time that this process has used, in milliseconds. Tests of linear time use it, because the clock
 * also counts other programs.
 */

import { cpuUsage } from "node:process";

export function cpuTime(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
