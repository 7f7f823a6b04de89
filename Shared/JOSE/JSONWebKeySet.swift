public import Crypto
import JSON

/// The public keys of a login service, as it publishes them (RFC 7517). Only what tokens here can be signed with counts:
/// RSA keys for RS256 and P-256 keys for ES256, each with a `kid`.
public enum JSONWebKeySet {
    /// A usable key of a set.
    public struct Key: Sendable {
        /// Its `kid`.
        public let id: String
        /// What it is.
        public let material: Material

        /// The key itself.
        public enum Material: Sendable {
            /// For ES256.
            case es256(P256.PublicKey)
            /// For RS256.
            case rs256(RSA.PublicKey)
        }
    }

    /// Why a set is refused, in words for people; nothing of the keys.
    public struct Failure: Error, Sendable, Equatable {
        /// A phrase.
        public let reason: String
    }

    /// The largest set that is read, in keys: a login service publishes a handful.
    private static let mostKeys = 64

    /// Reads a set. Keys of another type, curve, algorithm or use are passed over, as RFC 7517 §5 asks; a key that says it
    /// is usable and is not, a private key, two keys of one `kid`, and a set with nothing usable are refused.
    public static func parse(_ bytes: [UInt8]) throws(Failure) -> [Key] {
        guard let root = try? JSONReader.parseObject(bytes), let entries = root["keys"]?.arrayValue else {
            throw Failure(reason: "it is no JSON Web Key Set: an object with a list `keys`")
        }
        guard entries.count <= mostKeys else { throw Failure(reason: "it has more than \(mostKeys) keys") }
        var keys: [Key] = []
        for (index, entry) in entries.enumerated() {
            guard let object = entry.objectValue else { throw Failure(reason: "its key \(index) is no object") }
            guard let key = try key(object, index) else { continue }
            guard !keys.contains(where: { $0.id == key.id }) else {
                throw Failure(reason: "two of its keys have the kid of key \(index)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw Failure(reason: "none of its keys is for RS256 or ES256") }
        return keys
    }

    private static func key(_ object: JSONObject, _ index: Int) throws(Failure) -> Key? {
        guard object["d"] == nil, object["k"] == nil else {
            throw Failure(reason: "its key \(index) is secret; only public keys belong here")
        }
        let algorithm = object["alg"]?.stringValue
        if let use = object["use"]?.stringValue, use != "sig" { return nil }
        switch object["kty"]?.stringValue {
        case "RSA" where algorithm == nil || algorithm == "RS256":
            let modulus = try number("n", object, index)
            let exponent = try number("e", object, index)
            let id = try id(object, index)
            do throws(CryptoError) {
                return Key(id: id, material: .rs256(try RSA.PublicKey(modulus: modulus, exponent: exponent)))
            } catch { throw unusable(index) }
        case "EC" where object["crv"]?.stringValue == "P-256" && (algorithm == nil || algorithm == "ES256"):
            let x = try number("x", object, index)
            let y = try number("y", object, index)
            let id = try id(object, index)
            do throws(CryptoError) {
                return Key(id: id, material: .es256(try P256.PublicKey(x: x, y: y)))
            } catch { throw unusable(index) }
        default: return nil
        }
    }

    private static func id(_ object: JSONObject, _ index: Int) throws(Failure) -> String {
        guard let id = object["kid"]?.stringValue, !id.isEmpty, id.utf8.count <= 255 else {
            throw Failure(reason: "its key \(index) has no kid")
        }
        return id
    }

    private static func number(_ name: String, _ object: JSONObject, _ index: Int) throws(Failure) -> [UInt8] {
        guard let text = object[name]?.stringValue, let bytes = Base64URL.decode(text), !bytes.isEmpty else {
            throw Failure(reason: "`\(name)` of its key \(index) is missing or no base64url")
        }
        return bytes
    }

    private static func unusable(_ index: Int) -> Failure {
        Failure(reason: "its key \(index) is no key that can be used (RSA: 2,048 to 8,192 bits; EC: a point of P-256)")
    }
}
