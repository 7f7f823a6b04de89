import Crypto
import JSON

/// Apple's side of purchases: issues transaction ids, signs, remembers who bought what and what apps have finished,
/// refunds. Every change is on disk before it is answered, so `kill -9` loses nothing that was said.
///
/// It belongs to one thread at a time and blocks it for the time of an fsync.
public struct SimulatedStore {
    /// Signs; its authority's root is what a verifier must trust.
    public let signer: TransactionSigner
    /// The apps it knows; nil where nothing but purchases is wanted.
    public let apps: SimulatedApps?
    /// Where notifications go.
    let outbox: NotificationOutbox?
    /// How many times faster than real ones the periods of subscriptions pass.
    let acceleration: Int64
    var books: StoreBooks
    private let now: @Sendable () -> Int64
    private var lastTransactionID: Int64
    private var lastDate: Int64 = 0

    /// Ids begin above 2^53: a client that takes them for JavaScript numbers shows at once.
    static let firstTransactionID: Int64 = 9_007_199_254_740_993
    /// A new store begins somewhere in this range above the first id, so that two stores hardly share ids.
    private static let range: ClosedRange<Int64> = 0...1_000_000_000_000_000

    /// Opens the store in `directory` (made if missing, mode 0700), with the authority kept in it.
    ///
    /// - Parameters:
    ///   - apps: which apps have notifications and a Server API; `outbox` takes what is told to them.
    ///   - acceleration: how many times faster than real ones the periods of subscriptions pass.
    ///   - ocspAddress: where the certificates say that one can ask about revocation; see ``SimulatedAuthority``.
    ///   - now: milliseconds since 1970.
    public static func open(
        in directory: String, apps: SimulatedApps? = nil, outbox: NotificationOutbox? = nil, acceleration: Int64 = 1,
        ocspAddress: String? = nil, now: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) throws(StoreError) -> SimulatedStore {
        try DurableFile.makeDirectory(directory)
        let authority: SimulatedAuthority
        do {
            authority = try SimulatedAuthority.loadOrGenerate(in: directory, ocspAddress: ocspAddress)
        } catch {
            throw .storage(path: directory, problem: "the authority cannot be loaded: \(error.code)")
        }
        return try SimulatedStore(
            signer: TransactionSigner(authority), in: directory, apps: apps, outbox: outbox,
            acceleration: acceleration, now: now)
    }

    /// Opens the store in an existing folder with a signer made elsewhere.
    public init(
        signer: TransactionSigner, in directory: String, apps: SimulatedApps? = nil,
        outbox: NotificationOutbox? = nil, acceleration: Int64 = 1,
        now: @escaping @Sendable () -> Int64 = WallClock.milliseconds
    ) throws(StoreError) {
        self.signer = signer
        self.apps = apps
        self.outbox = outbox
        self.acceleration = max(1, acceleration)
        self.now = now
        books = try StoreBooks(in: directory)
        // Ids that callers chose themselves lie outside of this range and do not count.
        let own = Self.firstTransactionID...(Self.firstTransactionID + 2 * Self.range.upperBound)
        lastTransactionID =
            books.records.values.compactMap { Int64($0.transactionID) }.filter { own.contains($0) }.max()
            ?? Self.firstTransactionID + Int64.random(in: Self.range)
    }

    /// Buys, or waits for a parent.
    public mutating func purchase(_ request: PurchaseRequest) throws(StoreError) -> PurchaseResult {
        try request.validate()
        guard !request.needsApproval else {
            let id = try randomID()
            try books.saveWaiting(request, id: id)
            return .pending(id: id)
        }
        return .purchased(try issue(request))
    }

    /// A parent decides on a purchase that waits: the transaction, or nil if it was declined.
    public mutating func decide(pendingID: String, isApproved: Bool) throws(StoreError) -> SignedPurchase? {
        guard var request = books.pending[pendingID] else { throw .unknownPending }
        request.needsApproval = false
        // Issued first: a crash in between leaves a purchase that can be approved again, never a paid one that is lost.
        let purchase = isApproved ? try issue(request) : nil
        try books.removeWaiting(id: pendingID)
        return purchase
    }

    /// The transactions an Apple account has bought and no app has finished, oldest first: `Transaction.unfinished`.
    public func unfinished(appleAccount: String, environment: String) throws(StoreError) -> [SignedPurchase] {
        let records = books.records.values.filter {
            $0.appleAccount == appleAccount && $0.environment == environment && !$0.isFinished
        }
        var purchases: [SignedPurchase] = []
        for record in records.sorted(by: { Self.isOlder($0, $1) }) { purchases.append(try signed(record)) }
        return purchases
    }

    /// One transaction in its newest statement.
    public func transaction(_ transactionID: String, environment: String) throws(StoreError) -> SignedPurchase {
        guard let record = books.record(transactionID, environment) else { throw .unknownTransaction }
        return try signed(record)
    }

    /// The app has delivered. Finishing twice is no error, as in StoreKit.
    public mutating func finish(_ transactionID: String, environment: String) throws(StoreError) {
        guard var record = books.record(transactionID, environment) else { throw .unknownTransaction }
        guard !record.isFinished else { return }
        record.isFinished = true
        try books.save(record)
    }

    // MARK: - Issuing

    private mutating func issue(_ request: PurchaseRequest) throws(StoreError) -> SignedPurchase {
        let date = nextDate(after: 0)
        let ownID = nextTransactionID()
        var transaction = SimulatedTransaction(
            transactionID: ownID, bundleID: request.bundleID, productID: request.productID,
            purchaseDate: date, type: request.type, environment: request.environment, quantity: request.quantity,
            appAccountToken: request.appAccountToken?.lowercased())
        transaction.appTransactionID = Self.appTransactionID(of: request.appleAccount, in: request.bundleID)
        transaction.overrides = request.fields
        let payload = transaction.json
        // An id set by the caller is the key where it can be one; whatever else is in the payload is only signed.
        let id = payload["transactionId"]?.stringValue.flatMap { Self.isID($0) ? $0 : nil } ?? ownID
        guard books.record(id, request.environment) == nil else { throw .transactionExists }
        let record = StoreRecord(
            transactionID: id, environment: request.environment, appleAccount: request.appleAccount, payload: payload,
            isFinished: false)
        try books.save(record)
        let purchase = try signed(record, isUnmarked: request.isUnmarked)
        try notify("ONE_TIME_CHARGE", about: record, of: request.bundleID, request.notification)
        return purchase
    }

    /// Ids grow by random steps, as Apple's do.
    mutating func nextTransactionID() -> String {
        lastTransactionID += Int64.random(in: 1...1_000)
        return String(lastTransactionID)
    }

    /// One for each Apple account and app, always the same.
    static func appTransactionID(of appleAccount: String, in bundleID: String) -> String {
        let hash = SHA256.hash(Array("\(bundleID) \(appleAccount)".utf8))
        // 15 digits behind the three with which Apple's begin.
        return "704" + String(1_000_000_000_000_000 + hash.prefix(6).reduce(0) { $0 << 8 | UInt64($1) }).suffix(15)
    }

    /// The newest statement about a transaction, signed.
    func signed(_ record: StoreRecord, isUnmarked: Bool = false) throws(StoreError) -> SignedPurchase {
        let bytes: [UInt8]
        do {
            let unmarked = isUnmarked ? try signer.signUnmarked(record.payload) : nil
            bytes = try unmarked ?? signer.sign(record.payload)
        } catch {
            throw .signing
        }
        return SignedPurchase(
            transactionID: record.transactionID, environment: record.environment, appleAccount: record.appleAccount,
            isFinished: record.isFinished, signedTransactionInfo: String(decoding: bytes, as: UTF8.self))
    }

    /// Now, but never the same as or before an earlier statement: newer statements must be newer by their date.
    mutating func nextDate(after earlier: Int64) -> Int64 {
        lastDate = max(now(), lastDate, earlier + 1)
        return lastDate
    }

    private func randomID() throws(StoreError) -> String {
        do {
            return Hex.encode(try RandomBytes.generate(16))
        } catch {
            throw .signing
        }
    }

    private static func isID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    static func isOlder(_ left: StoreRecord, _ right: StoreRecord) -> Bool {
        let dates = (left.payload["purchaseDate"]?.intValue ?? 0, right.payload["purchaseDate"]?.intValue ?? 0)
        return dates.0 == dates.1 ? left.transactionID < right.transactionID : dates.0 < dates.1
    }
}
