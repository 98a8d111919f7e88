import { z } from 'zod'
import type { Plotted } from '../emulate/plots/plot.ts'
import type { Seeds } from '../emulate/plots/seeds.ts'
import { amount, count, path } from './common.ts'

export const plotted: z.ZodType<Plotted> = z.strictObject({
  figures: z.array(
    z.strictObject({
      group: z.string().describe('the system, and its seed where each run is drawn by itself'),
      of: z.string().describe('what was measured'),
      runs: count,
      values: count.describe('of all runs together'),
      mean: z.number().describe('of the means of runs'),
      deviation: amount.describe('standard deviation of the means of runs; 0 for one run'),
    }),
  ),
  plot: z.string().describe('path of the plot'),
})

export const seeds: z.ZodType<Seeds> = z.strictObject({
  runs: z.array(
    z.strictObject({
      seed: count,
      verdict: z.string().describe('error if it could not be run'),
      message: z.string(),
      exitCode: count,
      trace: path,
      series: path,
    }),
  ),
  plotted: plotted.nullable().describe('all runs in one plot; null if none came to an end'),
})
