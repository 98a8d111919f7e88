import type { PlanePoint } from '../generate/plane.ts'

/**
 * Milliseconds that light takes through fibre along the great circle between two places, given as longitude and
 * latitude in degrees: one for each 200 km.
 */
export const fibreMs = ([longitude, latitude]: PlanePoint, [toLongitude, toLatitude]: PlanePoint): number => {
  const [phi, toPhi] = [radians(latitude), radians(toLatitude)]
  const haversine =
    Math.sin((toPhi - phi) / 2) ** 2 +
    Math.cos(phi) * Math.cos(toPhi) * Math.sin(radians(toLongitude - longitude) / 2) ** 2
  return (2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(haversine)))) / fibreKmPerMs
}

const earthRadiusKm = 6371
const fibreKmPerMs = 200

const radians = (degrees: number) => (degrees * Math.PI) / 180
