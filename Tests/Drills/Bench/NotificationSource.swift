import AppStoreSimulation
import Crypto
import Glibc
import JOSE
import JSON
import Runtime
import Synchronization

/// Notifications of purchases (ONE_TIME_CHARGE), each of another transaction, signed inside and outside. Kept compactly,
/// as two signatures: header and payload follow from the number.
struct NotificationSource: LoadSource {
    private let form: NotificationForm
    private let signatures: [(inner: [UInt8], outer: [UInt8])]

    var count: Int { signatures.count }

    /// Signs on all cores.
    init(_ form: NotificationForm, count: Int, key: P256.PrivateKey) throws {
        self.form = form
        let workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let share = (count + workers - 1) / workers
        let signed = Mutex<[Int: [(inner: [UInt8], outer: [UInt8])]]>([:])
        let threads = (0..<workers).map { worker in
            NamedThread.start(name: "sign-\(worker)") {
                let mine = (0..<count).dropFirst(worker * share).prefix(share)
                // A signature that cannot be made is missed below.
                let made = mine.compactMap { try? form.sign($0, key) }
                signed.withLock { $0[worker] = made }
            }
        }
        for thread in threads { thread.join() }
        signatures = signed.withLock { parts in (0..<workers).flatMap { parts[$0] ?? [] } }
        guard signatures.count == count else {
            throw DrillSettings.Problem(description: "the notifications could not be signed")
        }
    }

    func write(_ job: Int, to buffer: inout [UInt8]) {
        let outer = form.outer(job, inner: form.inner(job) + [UInt8(ascii: ".")] + signatures[job].inner)
        let length = Self.opening.count + outer.count + 1 + signatures[job].outer.count + Self.closing.count
        buffer += Self.head
        buffer += String(length).utf8
        buffer += "\r\n\r\n".utf8
        buffer += Self.opening
        buffer += outer
        buffer.append(UInt8(ascii: "."))
        buffer += signatures[job].outer
        buffer += Self.closing
    }

    func accept(_ answer: LoadConnection.Answer, of job: Int) -> Bool { answer.status == 200 }

    private static let head = Array(
        ("POST /apple/iap/notifications HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: ").utf8)
    private static let opening = Array(#"{"signedPayload":""#.utf8)
    private static let closing = Array(#""}"#.utf8)
}

/// What all notifications of a run have in common, with places for what differs.
struct NotificationForm: Sendable {
    private let headerSegment: [UInt8]
    private let transaction: [UInt8]
    private let idPlaces: [Int]
    /// The outer payload before and after the transaction inside, and where its UUID ends with digits of its own.
    private let before: [UInt8]
    private let after: [UInt8]
    private let uuidPlace: Int
    private let firstID: UInt64

    /// The last twelve digits of a UUID count.
    private static let uuidDigits = 12
    private static let idDigits = 19

    /// - Parameter firstID: transaction ids count up from here; 19 digits.
    init(_ authority: SimulatedAuthority, bundleID: String, appAppleID: Int64, firstID: UInt64) throws {
        self.firstID = firstID
        headerSegment = Base64URL.encode(JSONWriter.write(TransactionSigner.header(x5c: authority.x5c)))
        let (id, date) = (String(firstID), WallClock.milliseconds())
        transaction = JSONWriter.write(
            SimulatedTransaction(
                transactionID: id, bundleID: bundleID, productID: "pyy_danbing_60", purchaseDate: date
            ).json)
        let text = transaction
        let pattern = Array(id.utf8)
        idPlaces = (0...(text.count - pattern.count)).filter { text[$0..<$0 + pattern.count].elementsEqual(pattern) }
        // Another first half for each run: a UUID is stored once, for ever.
        let run = String(firstID / 1_000_000 % 0xffff_ffff + 0x1_0000_0000, radix: 16).suffix(8)
        let uuid = "\(run)-0000-4000-8000-000000000000"
        let mark = "TRANSACTION"
        let outer = JSONWriter.write(
            SimulatedNotification(
                type: "ONE_TIME_CHARGE", uuid: uuid, bundleID: bundleID, appAppleID: appAppleID, signedDate: date,
                signedTransactionInfo: mark
            ).json)
        guard idPlaces.count == 2, pattern.count == Self.idDigits,
            let end = LoadConnection.end(of: outer, "TRANSACTION"),
            let uuidEnd = LoadConnection.end(of: outer, "-0000-4000-8000-000000000000")
        else { throw DrillSettings.Problem(description: "the form of a notification has changed") }
        before = Array(outer[..<(end - mark.utf8.count)])
        after = Array(outer[end...])
        uuidPlace = uuidEnd - Self.uuidDigits
        guard uuidEnd <= before.count else {
            throw DrillSettings.Problem(description: "the UUID of a notification stands somewhere else now")
        }
    }

    /// What is signed of the transaction inside.
    func inner(_ job: Int) -> [UInt8] {
        var text = transaction
        let id = Array(String(firstID + UInt64(job)).utf8)
        for place in idPlaces { text.replaceSubrange(place..<place + id.count, with: id) }
        return headerSegment + [UInt8(ascii: ".")] + Base64URL.encode(text)
    }

    /// What is signed of the notification around it.
    func outer(_ job: Int, inner: [UInt8]) -> [UInt8] {
        var text = before
        let number = String(job + 1_000_000_000_000).utf8.dropFirst()
        text.replaceSubrange(uuidPlace..<uuidPlace + Self.uuidDigits, with: number)
        return headerSegment + [UInt8(ascii: ".")] + Base64URL.encode(text + inner + after)
    }

    /// Both signatures as they stand in a JWS.
    func sign(_ job: Int, _ key: P256.PrivateKey) throws -> (inner: [UInt8], outer: [UInt8]) {
        let inside = inner(job)
        let signature = Base64URL.encode(try key.signature(for: inside))
        let outside = outer(job, inner: inside + [UInt8(ascii: ".")] + signature)
        return (signature, Base64URL.encode(try key.signature(for: outside)))
    }
}
