export { Decrypter, Encrypter } from "age-encryption";
