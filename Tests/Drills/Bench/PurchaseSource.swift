import AppStoreSimulation
import Crypto
import Glibc
import JOSE
import JSON
import Runtime
import Synchronization

/// Signed purchases on orders. Kept compactly, as signature and order: the header is the same for all, and the payload
/// differs in its ids only.
struct PurchaseSource: LoadSource {
    private let users: BenchUsers
    private let form: PurchaseForm
    private let orders: [BenchOrder]
    private let signatures: [[UInt8]]

    var count: Int { orders.count }

    /// Signs a purchase for each order, on all cores.
    init(_ users: BenchUsers, _ orders: [BenchOrder], _ form: PurchaseForm, key: P256.PrivateKey) throws {
        self.users = users
        self.orders = orders
        self.form = form
        signatures = try Self.sign(orders.count, key: key) { form.signingInput($0, token: orders[$0].token) }
    }

    /// Signs so many purchases, on all cores.
    static func sign(
        _ count: Int, key: P256.PrivateKey, _ input: @escaping @Sendable (_ job: Int) -> [UInt8]
    ) throws -> [[UInt8]] {
        let workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let share = (count + workers - 1) / workers
        let signed = Mutex<[Int: [[UInt8]]]>([:])
        let threads = (0..<workers).map { worker in
            NamedThread.start(name: "sign-\(worker)") {
                let mine = (0..<count).dropFirst(worker * share).prefix(share)
                // A signature that cannot be made is missed below.
                let made = mine.compactMap { job in
                    (try? key.signature(for: input(job))).map { Base64URL.encode($0) }
                }
                signed.withLock { $0[worker] = made }
            }
        }
        for thread in threads { thread.join() }
        let signatures = signed.withLock { parts in (0..<workers).flatMap { parts[$0] ?? [] } }
        guard signatures.count == count else {
            throw DrillSettings.Problem(description: "the purchases could not be signed")
        }
        return signatures
    }

    func write(_ job: Int, to buffer: inout [UInt8]) {
        let payload = form.payloadSegment(job, token: orders[job].token)
        let (order, signature) = (orders[job], signatures[job])
        let jws = form.headerSegment.count + payload.count + signature.count + 2
        let frame = Self.opening.count + order.number.count + Self.middle.count + Self.closing.count
        users.write(order.user, "/api/iap/apple/verify", bodyCount: frame + jws, to: &buffer)
        buffer += Self.opening
        buffer += order.number
        buffer += Self.middle
        buffer += form.headerSegment
        buffer.append(UInt8(ascii: "."))
        buffer += payload
        buffer.append(UInt8(ascii: "."))
        buffer += signature
        buffer += Self.closing
    }

    func accept(_ answer: LoadConnection.Answer, of job: Int) -> Bool {
        answer.status == 200 && LoadConnection.end(of: answer.bytes, #""status":"GRANTED""#) != nil
    }

    private static let opening = Array(#"{"orderNo":""#.utf8)
    private static let middle = Array(#"","signedTransactionInfo":""#.utf8)
    private static let closing = Array(#""}"#.utf8)
}

/// The payload of all purchases of a run, with places for what differs.
struct PurchaseForm: Sendable {
    /// The first part of every JWS.
    let headerSegment: [UInt8]
    private let payload: [UInt8]
    private let idPlaces: [Int]
    private let tokenPlace: Int?
    private let firstID: UInt64

    /// As long as Apple's transaction ids are going to be for years.
    private static let idDigits = 19

    /// - Parameters:
    ///   - hasToken: whether an appAccountToken has its place in it.
    ///   - firstID: transaction ids count up from here; 19 digits.
    init(
        _ authority: SimulatedAuthority, bundleID: String, productID: String = "pyy_danbing_60", hasToken: Bool = true,
        firstID: UInt64
    ) throws {
        self.firstID = firstID
        headerSegment = Base64URL.encode(JSONWriter.write(TransactionSigner.header(x5c: authority.x5c)))
        let id = String(firstID)
        let token = "00000000-0000-4000-8000-000000000000"
        let transaction = SimulatedTransaction(
            transactionID: id, bundleID: bundleID, productID: productID, purchaseDate: WallClock.milliseconds(),
            appAccountToken: hasToken ? token : nil)
        payload = JSONWriter.write(transaction.json)
        idPlaces = Self.places(of: Array(id.utf8), in: payload)
        let tokens = Self.places(of: Array(token.utf8), in: payload)
        // transactionId and originalTransactionId.
        guard id.utf8.count == Self.idDigits, idPlaces.count == 2, tokens.isEmpty != hasToken else {
            throw DrillSettings.Problem(description: "the form of a purchase has changed")
        }
        tokenPlace = tokens.first
    }

    /// The transaction id of purchase `job`.
    func id(_ job: Int) -> [UInt8] { Array(String(firstID + UInt64(job)).utf8) }

    /// The second part of the JWS of purchase `job`.
    func payloadSegment(_ job: Int, token: [UInt8]) -> [UInt8] {
        var text = payload
        let id = id(job)
        for place in idPlaces { text.replaceSubrange(place..<place + id.count, with: id) }
        if let tokenPlace { text.replaceSubrange(tokenPlace..<tokenPlace + token.count, with: token) }
        return Base64URL.encode(text)
    }

    /// What is signed.
    func signingInput(_ job: Int, token: [UInt8]) -> [UInt8] {
        headerSegment + [UInt8(ascii: ".")] + payloadSegment(job, token: token)
    }

    private static func places(of pattern: [UInt8], in text: [UInt8]) -> [Int] {
        guard text.count >= pattern.count else { return [] }
        return (0...(text.count - pattern.count)).filter { text[$0..<$0 + pattern.count].elementsEqual(pattern) }
    }
}
