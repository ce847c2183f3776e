//! What `status` says of units that are well, off, broken, refused or locked out: with the real binary (S46).

use crate::support::binary::{House, unit};

const FEED: &str = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>News</title>\
    <item><title>One</title><guid>1</guid></item></channel></rss>";

#[test]
fn first_light() {
    let house = House::new();
    house.write("news.xml", FEED);
    house.unit(
        "news.connector.toml",
        "[connector]\nplatform = \"feed\"\nbacklog = \"all\"\n[feed]\nurl = \"file://{root}/news.xml\"\n\
         [install]\nenabled = true\n",
    );
    let daemon = house.daemon(&[]);
    let (view, code) =
        house.status_when("the feed to be read", |view| unit(view, "news.connector").last_success.is_some());
    assert_eq!(code, 0, "{view:#?}");
    daemon.stop();
}
