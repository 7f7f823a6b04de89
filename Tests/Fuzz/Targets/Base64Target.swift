import FoundationEssentials
import JOSE

/// Both forms of base64. What is decoded is the only text for its bytes, and Foundation decodes it to the same.
struct Base64Target: FuzzTarget {
    let seeds: [[UInt8]]
    let words = ["=", "==", "-", "_", "+", "/", " ", "\n", "\u{0}", "A", "AA", "AAA", "é"]

    init(_ files: FuzzFiles) {
        seeds =
            files.corpus("base64")
            + ["", "Zg", "Zm8", "Zm9v", "Zm9vYg==", "_-_-", "+/+/", "A"].map { Array($0.utf8) }
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let text = String(decoding: input, as: UTF8.self)
        var isAccepted = false
        if let bytes = Base64URL.decode(input[...]) {
            isAccepted = true
            try Violation.unless(Base64URL.encode(bytes) == input, "two base64url texts for the same bytes")
            var padded = text.replacing("-", with: "+").replacing("_", with: "/")
            while padded.utf8.count % 4 != 0 { padded += "=" }
            try Violation.unless(
                Data(base64Encoded: padded).map { [UInt8]($0) } == bytes, "Foundation reads other bytes")
        }
        if let bytes = Base64.decode(input[...]) {
            isAccepted = true
            try Violation.unless(Array(Base64.encode(bytes).utf8) == input, "two base64 texts for the same bytes")
            try Violation.unless(Data(base64Encoded: text).map { [UInt8]($0) } == bytes, "Foundation reads other bytes")
        }
        return isAccepted
    }
}
