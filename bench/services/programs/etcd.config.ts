import { etcd } from './etcd.ts'

export default etcd('etcd', 'etcd')
