import Service

/// The schema of Granting and the steps that build it.
enum GrantingSchema {
    /// Its name.
    static let name = "granting"

    /// The steps, embedded from `Migrations/`.
    static let migrations = Migration.embedded([
        ("V001_schema.sql", PackageResources.V001_schema_sql),
        ("V002_customers_and_orders.sql", PackageResources.V002_customers_and_orders_sql),
        ("V003_catalog.sql", PackageResources.V003_catalog_sql),
        ("V004_transactions.sql", PackageResources.V004_transactions_sql),
        ("V005_wallet.sql", PackageResources.V005_wallet_sql),
        ("V006_facts.sql", PackageResources.V006_facts_sql),
        ("V007_rights.sql", PackageResources.V007_rights_sql),
        ("V008_refunds.sql", PackageResources.V008_refunds_sql),
        ("V009_subscriptions.sql", PackageResources.V009_subscriptions_sql),
        ("V010_risk.sql", PackageResources.V010_risk_sql),
        ("V011_consents.sql", PackageResources.V011_consents_sql),
        ("V012_points.sql", PackageResources.V012_points_sql),
        ("V013_starter.sql", PackageResources.V013_starter_sql),
        ("V014_rewards.sql", PackageResources.V014_rewards_sql),
        ("V015_cards.sql", PackageResources.V015_cards_sql),
        ("V016_users.sql", PackageResources.V016_users_sql),
        ("V017_sandbox_sweep.sql", PackageResources.V017_sandbox_sweep_sql),
        ("V018_restoring.sql", PackageResources.V018_restoring_sql),
    ])
}
