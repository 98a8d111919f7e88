import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Names of nodes by address. */
export const Names = createContext<ReadonlyMap<string, string>>(new Map())

const address = /(\b\d{1,3}(?:\.\d{1,3}){3}\b)/

/** A text in which the node's name follows each address. */
export const Named = ({ text }: { text: string }) => {
  const names = useContext(Names)
  if (names.size === 0) return <>{text}</>
  return (
    <>
      {text.split(address).map((part, index) => {
        const name = names.get(part)
        return name ? <NamedAddress key={index} address={part} name={name} /> : part
      })}
    </>
  )
}

const NamedAddress = ({ address, name }: { address: string; name: string }) => (
  <>
    {address}
    <span class="name">{name}</span>
  </>
)
