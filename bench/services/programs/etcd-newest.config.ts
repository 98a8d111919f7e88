import { etcd } from './etcd.ts'

export default etcd('etcd-newest', 'cache/etcd')
