// Interfaces of the modules at 0x1 that the contract calls. Bytecode links by address, module, name
// and signature, so these stand in for the published framework; `svc contract publish` compares
// every imported signature with the network. The bodies serve unit tests only.

#[defines_primitive(vector)]
module std::vector {
    #[bytecode_instruction]
    public native fun empty<Element>(): vector<Element>;
    #[bytecode_instruction]
    public native fun length<Element>(v: &vector<Element>): u64;
    #[bytecode_instruction, syntax(index)]
    public native fun borrow<Element>(v: &vector<Element>, i: u64): &Element;
    #[bytecode_instruction, syntax(index)]
    public native fun borrow_mut<Element>(v: &mut vector<Element>, i: u64): &mut Element;
    #[bytecode_instruction]
    public native fun push_back<Element>(v: &mut vector<Element>, e: Element);
    #[bytecode_instruction]
    public native fun pop_back<Element>(v: &mut vector<Element>): Element;
    #[bytecode_instruction]
    public native fun destroy_empty<Element>(v: vector<Element>);
    #[bytecode_instruction]
    public native fun swap<Element>(v: &mut vector<Element>, i: u64, j: u64);

    public fun is_empty<Element>(v: &vector<Element>): bool { v.length() == 0 }

    public fun append<Element>(lhs: &mut vector<Element>, mut other: vector<Element>) {
        let start = lhs.length();
        while (other.length() > 0) lhs.push_back(other.pop_back());
        let mut i = start;
        let mut j = lhs.length();
        while (i + 1 < j) {
            j = j - 1;
            lhs.swap(i, j);
            i = i + 1
        };
        other.destroy_empty()
    }

    public fun remove<Element>(v: &mut vector<Element>, mut i: u64): Element {
        let last = v.length() - 1;
        while (i < last) {
            v.swap(i, i + 1);
            i = i + 1
        };
        v.pop_back()
    }
}

module std::option {
    public struct Option<Element> has copy, drop, store { vec: vector<Element> }

    public fun none<Element>(): Option<Element> { Option { vec: vector[] } }

    public fun some<Element>(e: Element): Option<Element> { Option { vec: vector[e] } }

    public fun is_some<Element>(t: &Option<Element>): bool { t.vec.length() == 1 }

    public fun contains<Element>(t: &Option<Element>, e_ref: &Element): bool {
        t.vec.length() == 1 && &t.vec[0] == e_ref
    }

    public fun to_vec<Element>(t: Option<Element>): vector<Element> {
        let Option { vec } = t;
        vec
    }
}

module std::ascii {
    public struct String has copy, drop, store { bytes: vector<u8> }
}

module std::string {
    public struct String has copy, drop, store { bytes: vector<u8> }

    public fun utf8(bytes: vector<u8>): String {
        assert!(internal_check_utf8(&bytes), 1);
        String { bytes }
    }

    public fun length(s: &String): u64 { s.bytes.length() }

    public fun as_bytes(s: &String): &vector<u8> { &s.bytes }

    native fun internal_check_utf8(v: &vector<u8>): bool;
}

module std::hash {
    public native fun sha2_256(data: vector<u8>): vector<u8>;
}

module std::bcs {
    public native fun to_bytes<MoveValue>(v: &MoveValue): vector<u8>;
}

// Named by the test runner.
#[test_only]
module std::unit_test {
    public fun poison() {}
}
