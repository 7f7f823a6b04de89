import AppStoreSimulation
import Crypto
import JOSE
import JSON
import Testing

@testable import AppStore

/// One simulated authority, and the production verifier trusting its root.
struct World {
    /// 2026-11-30T00:00:00Z in ms.
    static let now: Int64 = 1_796_083_200_000
    static let bundleID = "com.example.game"
    static let app = AcceptedApp(id: "game", bundleIDs: [bundleID], appAppleID: 1234)
    /// Made once: the keys do not matter.
    static let shared = Result { try SimulatedAuthority.generate() }

    let authority: SimulatedAuthority
    let signer: TransactionSigner
    var verifier: SignedDataVerifier

    init(apps: [AcceptedApp] = [World.app], cacheCapacity: Int = 64) throws {
        authority = try Self.shared.get()
        signer = TransactionSigner(authority)
        var configuration = SignedDataVerifier.Configuration()
        configuration.cacheCapacity = cacheCapacity
        verifier = try SignedDataVerifier(apps: apps, roots: [authority.root], configuration: configuration)
    }

    static func transaction(_ id: String = "2000000000000001") -> SimulatedTransaction {
        SimulatedTransaction(
            transactionID: id, bundleID: bundleID, productID: "com.example.game.coins", purchaseDate: now - 60_000)
    }

    static func notification(_ type: String = "ONE_TIME_CHARGE") -> SimulatedNotification {
        SimulatedNotification(
            type: type, uuid: "002e14d5-51f5-4503-b5a8-c3a1af68eb20", bundleID: bundleID, appAppleID: 1234,
            signedDate: now - 1000)
    }

    /// Why a transaction is refused; nil if it is not.
    mutating func refusal(_ jws: [UInt8], now: Int64 = World.now) -> VerificationFailure.Reason? {
        do throws(VerificationFailure) {
            _ = try verifier.verifyTransaction(jws, now: now)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Why a transaction with these JSON bytes is refused.
    mutating func refusal(payload: String) throws -> VerificationFailure.Reason? {
        refusal(try signer.sign(payload: Array(payload.utf8)))
    }

    /// Why a transaction with changed fields is refused.
    mutating func refusal(_ overrides: JSONObject) throws -> VerificationFailure.Reason? {
        var transaction = Self.transaction()
        transaction.overrides = overrides
        return refusal(try signer.sign(transaction))
    }

    /// Why a notification is refused.
    mutating func refusal(notification: [UInt8], now: Int64 = World.now) -> VerificationFailure? {
        do throws(VerificationFailure) {
            _ = try verifier.verifyNotification(notification, now: now)
            return nil
        } catch {
            return error
        }
    }
}
