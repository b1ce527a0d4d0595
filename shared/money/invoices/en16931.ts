import { ApiError } from "../../api/contract/errors.ts";
import { escapeHtml } from "../../platform/html.ts";
import { decimalText } from "../wallet/money.ts";
import { dayIn, type DocumentRecord } from "./record.ts";
import { vatCountryOf } from "./vat-country.ts";

/*
 * A document as structured data by the European standard EN 16931, in the syntax of UN/CEFACT (CII). BT is a business term of
 * the standard.
 */

/** How value added tax applies: a code of UNTDID 5305, and why there is none. */
interface Vat {
  readonly category: "AE" | "O" | "S" | "Z";
  readonly reason?: string;
  /** A code of the list VATEX. */
  readonly reasonCode?: string;
}

/**
 * Returns a document as XML.
 * @throws ApiError CONFLICT when the document lacks what the standard requires
 */
export function en16931Of(document: DocumentRecord): string {
  const { kind, number, corrects, issuedAt, paidAt, paymentId, seller, buyer, currency } = document;
  const { lines, amountMicros, taxMicros, taxRate, totalMicros, localTax, timeZone } = document;
  const dateOf = (moment: string): string => {
    const date = dayIn(timeZone, moment).replaceAll("-", "");
    return `<udt:DateTimeString format="102">${date}</udt:DateTimeString>`;
  };
  const { category, reason, reasonCode } = vatOf(document);
  const isOutside = category === "O";
  const rate = element("RateApplicablePercent", isOutside ? undefined : String(taxRate));
  const dueMicros = paidAt === undefined ? totalMicros : 0;
  // If the tax does not apply, there may be no registration. The seller has to have an identifier in any case.
  const registration = (scheme: "FC" | "VA", id: string | undefined): string =>
    isOutside || id === undefined
      ? ""
      : `<ram:SpecifiedTaxRegistration><ram:ID schemeID="${scheme}">${textOf(id)}</ram:ID></ram:SpecifiedTaxRegistration>`;
  const linesXml = lines.map(
    (line, index) => `
    <ram:IncludedSupplyChainTradeLineItem>
      <ram:AssociatedDocumentLineDocument><ram:LineID>${index + 1}</ram:LineID></ram:AssociatedDocumentLineDocument>
      <ram:SpecifiedTradeProduct><ram:Name>${textOf(line.description)}</ram:Name></ram:SpecifiedTradeProduct>
      <ram:SpecifiedLineTradeAgreement>
        <ram:NetPriceProductTradePrice><ram:ChargeAmount>${amountOf(line.amountMicros)}</ram:ChargeAmount></ram:NetPriceProductTradePrice>
      </ram:SpecifiedLineTradeAgreement>
      <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">1</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
      <ram:SpecifiedLineTradeSettlement>
        <ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>${category}</ram:CategoryCode>${rate}</ram:ApplicableTradeTax>
        <ram:SpecifiedTradeSettlementLineMonetarySummation>
          ${element("LineTotalAmount", amountOf(line.amountMicros))}
        </ram:SpecifiedTradeSettlementLineMonetarySummation>
      </ram:SpecifiedLineTradeSettlement>
    </ram:IncludedSupplyChainTradeLineItem>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<rsm:CrossIndustryInvoice
  xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
  xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
  xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
  <rsm:ExchangedDocumentContext>
    <ram:GuidelineSpecifiedDocumentContextParameter>
      ${element("ID", "urn:cen.eu:en16931:2017")}
    </ram:GuidelineSpecifiedDocumentContextParameter>
  </rsm:ExchangedDocumentContext>
  <rsm:ExchangedDocument>
    ${element("ID", number)}
    ${element("TypeCode", kind === "invoice" ? "380" : "381")}
    <ram:IssueDateTime>${dateOf(issuedAt)}</ram:IssueDateTime>
  </rsm:ExchangedDocument>
  <rsm:SupplyChainTradeTransaction>${linesXml.join("")}
    <ram:ApplicableHeaderTradeAgreement>
      <ram:SellerTradeParty>
        ${element("ID", seller.vatNumber ?? seller.taxNumber)}
        ${partyOf(seller, seller.country)}
        ${registration("VA", seller.vatNumber)}
        ${registration("FC", seller.taxNumber)}
      </ram:SellerTradeParty>
      <ram:BuyerTradeParty>
        ${partyOf(buyer, seller.country)}
        ${registration("VA", buyer.vatNumber)}
      </ram:BuyerTradeParty>
    </ram:ApplicableHeaderTradeAgreement>
    <ram:ApplicableHeaderTradeDelivery>
      <ram:ActualDeliverySupplyChainEvent>
        <ram:OccurrenceDateTime>${dateOf(paidAt ?? issuedAt)}</ram:OccurrenceDateTime>
      </ram:ActualDeliverySupplyChainEvent>
    </ram:ApplicableHeaderTradeDelivery>
    <ram:ApplicableHeaderTradeSettlement>
      ${element("PaymentReference", paymentId)}
      ${element("TaxCurrencyCode", localTax?.currency)}
      ${element("InvoiceCurrencyCode", currency)}
      <ram:ApplicableTradeTax>
        ${element("CalculatedAmount", amountOf(taxMicros))}
        ${element("TypeCode", "VAT")}
        ${element("ExemptionReason", reason)}
        ${element("BasisAmount", amountOf(amountMicros))}
        ${element("CategoryCode", category)}
        ${element("ExemptionReasonCode", reasonCode)}
        ${rate}
      </ram:ApplicableTradeTax>
      ${dueMicros === 0 ? "" : `<ram:SpecifiedTradePaymentTerms>${element("Description", `Reference: ${paymentId}`)}</ram:SpecifiedTradePaymentTerms>`}
      <ram:SpecifiedTradeSettlementHeaderMonetarySummation>
        ${element("LineTotalAmount", amountOf(amountMicros))}
        ${element("TaxBasisTotalAmount", amountOf(amountMicros))}
        <ram:TaxTotalAmount currencyID="${currency}">${amountOf(taxMicros)}</ram:TaxTotalAmount>
        ${localTax === undefined ? "" : `<ram:TaxTotalAmount currencyID="${localTax.currency}">${amountOf(localTax.micros)}</ram:TaxTotalAmount>`}
        ${element("GrandTotalAmount", amountOf(totalMicros))}
        ${element("TotalPrepaidAmount", amountOf(totalMicros - dueMicros))}
        ${element("DuePayableAmount", amountOf(dueMicros))}
      </ram:SpecifiedTradeSettlementHeaderMonetarySummation>
      ${corrects === undefined ? "" : `<ram:InvoiceReferencedDocument>${element("IssuerAssignedID", corrects)}</ram:InvoiceReferencedDocument>`}
    </ram:ApplicableHeaderTradeSettlement>
  </rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>
`.replaceAll(/^ *\n/gm, "");
}

/**
 * Returns how the tax of a document applies. Without a rate and a reverse charge, a supply to another country is outside of the
 * seller's tax (Directive 2006/112, Art. 44 and 59), and one in the same country has a rate of zero.
 */
function vatOf({ seller, buyer, taxRate, taxNote }: DocumentRecord): Vat {
  if ((seller.vatNumber ?? seller.taxNumber) === undefined)
    throw incomplete("the seller has no VAT or tax number");
  if (taxRate > 0) return { category: "S" };
  if (taxNote !== undefined) {
    if (buyer.vatNumber === undefined) throw incomplete("the buyer, who owes the tax, has no VAT number");
    return { category: "AE", reason: taxNote, reasonCode: "VATEX-EU-AE" };
  }
  if (vatCountryOf(buyer.country ?? seller.country) === vatCountryOf(seller.country))
    return { category: "Z" };
  return { category: "O", reason: "Not subject to VAT", reasonCode: "VATEX-EU-O" };
}

function incomplete(reason: string): ApiError {
  return new ApiError("CONFLICT", { message: `This document cannot be a file of EN 16931: ${reason}.` });
}

/** @param sellerCountry where a buyer without a country is, as for the tax */
function partyOf(
  { name, address = [], country, email }: DocumentRecord["buyer"] & { email?: string | undefined },
  sellerCountry: string,
): string {
  const [first, second, ...rest] = address;
  const mail = email && `<ram:URIID schemeID="EM">${textOf(email)}</ram:URIID>`;
  return `${element("Name", name)}
        <ram:PostalTradeAddress>
          ${element("LineOne", first)}
          ${element("LineTwo", second)}
          ${element("LineThree", rest.length === 0 ? undefined : rest.join(", "))}
          ${element("CountryID", country ?? sellerCountry)}
        </ram:PostalTradeAddress>
        ${mail === undefined ? "" : `<ram:URIUniversalCommunication>${mail}</ram:URIUniversalCommunication>`}`;
}

function element(name: string, text: string | undefined): string {
  return text === undefined ? "" : `<ram:${name}>${textOf(text)}</ram:${name}>`;
}

/** XML has no controls, and not these two characters. */
function textOf(text: string): string {
  return escapeHtml(text.toWellFormed().replaceAll(/[\p{Cc}\uFFFE\uFFFF]+/gu, " "));
}

/** The currencies of payments have at most two decimals, as the standard requires. */
function amountOf(micros: number): string {
  return decimalText(micros).slice(0, -"0000".length);
}
