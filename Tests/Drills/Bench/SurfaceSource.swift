import AppStoreSimulation
import Crypto
import JOSE

/// An app of another surface than `orders`: whose users buy what, and how they hand it in.
struct SurfaceForm: Sendable {
    /// The app's host, which its file names.
    let host: String
    /// Its bundle id.
    let bundleID: String
    /// What is bought.
    let productID: String
    let path: StaticString
    /// The body around a transaction's id and its JWS.
    let opening: String
    let middle: String
    let closing: String
    /// Stands in the answer of a purchase that was delivered.
    let delivered: StaticString

    /// As apps/points.yaml and its clients have it.
    static let points = SurfaceForm(
        host: "points.localhost", bundleID: "com.meeyao.qianwen", productID: "com.meeyao.qianwen.popular_pack",
        path: "/api/v1/payments/apple/transactions/verify",
        opening:
            #"{"productCode":"popular_pack","appStoreProductId":"com.meeyao.qianwen.popular_pack","transactionId":""#,
        middle: #"","signedTransactionInfo":""#, closing: #""}"#, delivered: #""status":"granted""#)
    /// As apps/game.yaml and its clients have it, with a signed transaction in the place of the receipt: so all three
    /// surfaces have the same to verify, and what differs is the surface.
    static let game = SurfaceForm(
        host: "game.localhost", bundleID: "com.ninjafall.game", productID: "com.ninjafall.gem_pack_1",
        path: "/iap/verify", opening: #"{"productId":"com.ninjafall.gem_pack_1","receipt":""#, middle: "",
        closing: #""}"#, delivered: #""code":"OK""#)
}

/// Signed purchases without an order, handed in at one surface.
struct SurfacePurchases {
    let count: Int
    private let users: BenchUsers
    private let surface: SurfaceForm
    private let form: PurchaseForm
    private let signatures: [[UInt8]]

    /// Signs `count` purchases, on all cores; transaction ids count up from `firstID`.
    init(
        _ surface: SurfaceForm, _ users: BenchUsers, count: Int, authority: SimulatedAuthority, firstID: UInt64
    ) throws {
        self.surface = surface
        self.users = users
        self.count = count
        let form = try PurchaseForm(
            authority, bundleID: surface.bundleID, productID: surface.productID, hasToken: false, firstID: firstID)
        self.form = form
        signatures = try PurchaseSource.sign(count, key: authority.leafKey) { form.signingInput($0, token: []) }
    }

    func write(_ job: Int, to buffer: inout [UInt8]) {
        var body = Array(surface.opening.utf8)
        // Only one of them names the transaction beside its JWS.
        if !surface.middle.isEmpty {
            body += form.id(job)
            body += surface.middle.utf8
        }
        body += form.headerSegment
        body.append(UInt8(ascii: "."))
        body += form.payloadSegment(job, token: [])
        body.append(UInt8(ascii: "."))
        body += signatures[job]
        body += surface.closing.utf8
        users.write(job % BenchUsers.count, surface.path, bodyCount: body.count, to: &buffer)
        buffer += body
    }

    func accept(_ answer: LoadConnection.Answer) -> Bool {
        answer.status == 200 && LoadConnection.end(of: answer.bytes, surface.delivered) != nil
    }
}

/// Three surfaces in turn.
struct SurfaceSource: LoadSource {
    let orders: PurchaseSource
    let points: SurfacePurchases
    let game: SurfacePurchases

    var count: Int { 3 * min(orders.count, points.count, game.count) }

    func write(_ job: Int, to buffer: inout [UInt8]) {
        switch job % 3 {
        case 0: orders.write(job / 3, to: &buffer)
        case 1: points.write(job / 3, to: &buffer)
        default: game.write(job / 3, to: &buffer)
        }
    }

    func accept(_ answer: LoadConnection.Answer, of job: Int) -> Bool {
        switch job % 3 {
        case 0: orders.accept(answer, of: job / 3)
        case 1: points.accept(answer)
        default: game.accept(answer)
        }
    }
}
